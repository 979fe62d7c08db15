"""Numbers for who runs the server, as Prometheus reads them: each server has its own, without the visitors' names."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from .service import Service

__all__ = ["Metrics"]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """What is counted, and what is read off when somebody asks."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.requests = Counter("jumok_requests", "answers", ["route", "status"], registry=registry)
        self.answers = Histogram(
            "jumok_answer_seconds", "from a question to its answer", ["kind"], buckets=BUCKETS, registry=registry
        )
        self.jobs = Gauge("jumok_jobs", "jobs, by kind and state", ["kind", "state"], registry=registry)
        self.waiting = Gauge("jumok_waiting", "pieces of work that wait", ["lane"], registry=registry)
        self.workers = Gauge("jumok_workers", "workers that are there", ["lane"], registry=registry)
        self.restarts = Gauge(
            "jumok_worker_restarts", "workers begun anew after their end", ["lane"], registry=registry
        )
        self.streams = Gauge("jumok_event_streams", "pages that look on", registry=registry)

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        """How long an answer takes."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.answers.labels(kind).observe(time.monotonic() - start)

    def text(self, service: Service) -> bytes:
        """All of it, now."""
        self.jobs.clear()
        for job in service.store.all():
            self.jobs.labels(job.kind, job.state).inc()
        for lane in service.lanes.values():
            self.waiting.labels(lane.name).set(len(lane.waiting))
            self.workers.labels(lane.name).set(sum(process.is_alive for process in lane.processes))
            self.restarts.labels(lane.name).set(lane.restarts)
        self.streams.set(sum(service.streams.values()))
        return generate_latest(self.registry)
