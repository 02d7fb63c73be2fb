"""A recording queue observer, and helpers for tests of the work queue."""

from steward.kube.objects.kinds import Key
from steward.runtime.controller.workqueue import WorkQueue

A, B, C = (Key("ns", name) for name in "abc")


class Recorder:
    def __init__(self) -> None:
        self.adds = 0
        self.retries = 0
        self.waited: list[float] = []
        self.worked: list[float] = []

    def added(self) -> None:
        self.adds += 1

    def taken(self, waited: float) -> None:
        self.waited.append(waited)

    def finished(self, worked: float) -> None:
        self.worked.append(worked)

    def retried(self) -> None:
        self.retries += 1


def take_all(queue: WorkQueue) -> list[Key]:
    taken = []
    while (key := queue.take()) is not None:
        taken.append(key)
        queue.done(key)
    return taken
