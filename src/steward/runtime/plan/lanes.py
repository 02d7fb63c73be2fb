"""Lane inheritance: a reconcile triggered by our own write inherits the queue lane of the reconcile that made it.

A changed template reaches a hundred clusters through the slow lane, and the writes of each cluster trigger the
controllers of its children. If those triggers used the fast lane, a hundred cells would be queued before the one that a
user has just edited.

The response to a write and its watch event arrive in any order. Both are recognised while the write is in progress;
after the response the watch event brings nothing new. Looking only at the task that reports the change was rejected:
the watch is often first. A foreign change to the same object during the write is queued in the slow lane, too; it is
not lost.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from steward.kube.objects.kinds import Ref
from steward.runtime.plan.steps import Step, step_target
from steward.runtime.reconcile import Lane

current_lane: ContextVar[Lane] = ContextVar("current_lane", default=Lane.FAST)
"""The lane of the key that this worker reconciles."""

_NO_MARK: AbstractContextManager[None] = nullcontext()


class LaneInheritance:
    """The objects that slow-lane reconciles are writing now. One per process, shared by executors and controllers."""

    def __init__(self) -> None:
        self._slow: Counter[Ref] = Counter()

    def during(self, step: Step) -> AbstractContextManager[None]:
        """A context for the execution of this step by the current reconcile."""
        ref = step_target(step) if current_lane.get() is Lane.SLOW else None
        return _NO_MARK if ref is None else self._marked_slow(ref)

    @contextmanager
    def _marked_slow(self, ref: Ref) -> Iterator[None]:
        self._slow[ref] += 1
        try:
            yield
        finally:
            self._slow[ref] -= 1
            if not self._slow[ref]:
                del self._slow[ref]

    def is_slow(self, ref: Ref) -> bool:
        return ref in self._slow
