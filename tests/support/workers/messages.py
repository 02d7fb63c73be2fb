"""What the main process and a worker send each other. The main process answers each RanTest with a NextTest or None."""

from typing import Any, NamedTuple


class NextTest(NamedTuple):
    """The test to run, and the one after it if that belongs to the same group: positions in the list of all tests."""

    position: int
    following: int | None


class RanTest(NamedTuple):
    """The serialised reports of a test; none in the first message of a worker."""

    reports: tuple[dict[str, Any], ...]


class WorkerEnded(NamedTuple):
    """The last message of a worker: what its plugins have put into `config.workeroutput`, and an error of its end."""

    output: dict[str, Any]
    error: str
