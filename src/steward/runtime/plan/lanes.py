"""Whoever is woken by a write stands in the lane of the work that wrote.

A template's change reaches a hundred clusters through the slow lane, and what each of them writes wakes the controllers
below it. Were those writes news, a hundred cells would stand in the fast lane, before the one that somebody has just
edited. So what the slow lane writes is an echo, and whoever hears it is in no more hurry than the one who caused it.

The answer of a write and the watch tell of it in any order: while the write is under way, both are its echo, and after
the answer the watch has nothing new to tell. To ask only which task tells of the change was rejected: the watch is
often first. A change by somebody else that comes in the same moment stands in the slow lane too; it is not lost.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from steward.kube.objects.kinds import Ref
from steward.runtime.controller.workqueue import Lane
from steward.runtime.plan.steps import Step, about

lane_in_hand: ContextVar[Lane] = ContextVar("lane_in_hand", default=Lane.FAST)
"""The lane of the key that a worker has in hand."""

_SILENCE: AbstractContextManager[None] = nullcontext()


class Echoes:
    """One for the process: its controllers hear what its carriers write."""

    def __init__(self) -> None:
        self._slow: Counter[Ref] = Counter()

    def of(self, step: Step) -> AbstractContextManager[None]:
        """While the work in hand carries this step out."""
        ref = about(step) if lane_in_hand.get() is Lane.SLOW else None
        return _SILENCE if ref is None else self._sounding(ref)

    @contextmanager
    def _sounding(self, ref: Ref) -> Iterator[None]:
        self._slow[ref] += 1
        try:
            yield
        finally:
            self._slow[ref] -= 1
            if not self._slow[ref]:
                del self._slow[ref]

    def is_slow(self, ref: Ref) -> bool:
        return ref in self._slow
