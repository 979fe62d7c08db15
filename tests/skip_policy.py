"""No test may look away: a skip or an expected failure counts as a failure.

One reason is allowed: a package that carries real weights is no longer to be had. Such a skip begins
with ``ALLOWED`` and is listed at the end of the run, so that it is seen and the package replaced.
"""

import pytest

ALLOWED = "gone from the registry: "


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    return _judged((yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector):
    return _judged((yield))


def pytest_terminal_summary(terminalreporter):
    if left_out := terminalreporter.stats.get("skipped"):
        terminalreporter.section("not tested, as the skip policy allows")
        for report in left_out:
            terminalreporter.line(f"{report.nodeid}: {_reason(report)}")


def _reason(report):
    return report.longrepr[2].removeprefix("Skipped: ")


def _judged(report):
    """The report as it is, or, where a test looked away, as a failure that says so."""
    expected_failure = hasattr(report, "wasxfail")
    if not report.skipped and not expected_failure:
        return report
    reason = report.wasxfail if expected_failure else _reason(report)
    if reason.startswith(ALLOWED) and not expected_failure:
        return report
    if expected_failure:
        del report.wasxfail
    report.outcome = "failed"
    report.longrepr = (
        f"{report.nodeid} {'was expected to fail' if expected_failure else 'was skipped'} ({reason or 'no reason'}).\n"
        f"Let it run, or remove it. Only a skip whose reason begins with {ALLOWED!r} is allowed (tests/skip_policy.py)."
    )
    return report
