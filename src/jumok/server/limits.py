"""How much one visitor, one request and one piece of work may take, each with its reason."""

from __future__ import annotations

__all__ = [
    "ANSWER_BYTES", "ANSWER_S", "ASKS", "BODY_BYTES", "BODY_S", "CHECK_S", "CONNECTIONS", "COST_BUDGET_S", "DISK_BYTES",
    "DISCARDED_BYTES", "EVENTS", "EXAMPLE_LETTERS", "FOLDER_BYTES", "GRACE_S", "HEADER_BYTES", "HEADER_S", "HEARTBEAT_S", "IDLE_S", "JOBS", "JOB_S",
    "KEPT_EVENTS", "LEAST_GRACE_S", "MEMORY_BYTES", "QUEUED", "SAVED_S", "SENTENCES", "STEPS", "STREAMS", "TEXT_LETTERS", "TRIES", "WAITING", "WRITE_S",
]  # fmt: skip

# a request
HEADER_BYTES = 16 * 1024  # a browser sends one or two
BODY_BYTES = 2**20  # an example file of a thousand lines has 50 kB
EXAMPLE_LETTERS = 400_000  # a sheet of 64 tokens and 64 dimensions, with every digit; it is read in a few seconds
TEXT_LETTERS = 20_000  # ten printed pages; a model's own limit is far lower
HEADER_S = 10.0  # of one request, from its first byte; a browser sends all at once
BODY_S = 30.0
IDLE_S = 30.0  # a connection between two requests
WRITE_S = 30.0  # nobody takes a byte of an answer for so long: the reader is gone
DISCARDED_BYTES = (
    64 * 2**20
)  # of a body that was refused, so that the refusal is read before the connection ends: a library of books, pasted
CONNECTIONS = 1000  # a class of thirty holds 210 at most

# a visitor
JOBS = 200  # kept; then old ones have to be deleted
WAITING = 4  # jobs that are queued or run
ASKS = 4  # small questions under way
STREAMS = 8  # of events, open at the same time
FOLDER_BYTES = 2 * 10**9  # the page of a captured text of 512 tokens takes 20 MB, a training run 5

# all visitors
QUEUED = 500  # pieces of work that wait for one sort of worker
DISK_BYTES = 300 * 10**6  # free; below that no new job begins, so that those that run can be kept

# a piece of work
ANSWER_S = 20.0  # a design, a cut, a page: small work has its answer in milliseconds
CHECK_S = 90.0  # the checker's own limits are shorter
JOB_S = {"capture": 300.0, "learn": 1800.0, "measure": 43_200.0, "cost": 300.0}
COST_BUDGET_S = 60.0  # of measuring, as on the command line
STEPS = 20_000  # of a training; the longest packaged task needs a tenth
TRIES = 20  # starts of a job without anything new saved, when the server died under it: rarely the job's fault
SENTENCES = 10  # at least, to measure on: as measurement.roles.table.ENOUGH, which needs NumPy
SAVED_S = 8.0  # a training saves at once and then every five seconds: what is saved later than this is new
# from "stop" to the end of a process that does not obey: to load a model again takes longer, and of a training whose next step
# comes late, as in a class where all train, what was seen since its last save would be lost
GRACE_S = {"model": 30.0, "learn": 20.0}  # of a lane, or a kind of work
LEAST_GRACE_S = 3.0  # of all others
ANSWER_BYTES = 16 * 2**20  # of one line from a worker; what is larger goes through a file
MEMORY_BYTES = {
    "quick": 3 * 2**30,
    "code": 3 * 2**30,
    "heavy": 12 * 2**30,
    "model": 0,
    "measure": 0,
}  # 0: what a model needs

# events
HEARTBEAT_S = 10.0
EVENTS = 400  # of a running job, kept for who comes later; every second one is then let go
KEPT_EVENTS = 8  # of a job that has ended
