"""A reconcile that fails for a reason that somebody can mend says so in the object's status, and not only in the log.

What the API server refuses, and what a spec lacks, comes again at every try: it is Stalled, in the server's own words.
Errors that pass by themselves (no answer, a conflict, too many requests) are left to the next try.
"""

from typing import Any

import msgspec

from steward.kube.cache.store import Store
from steward.kube.errors import AlreadyExists, BadRequest, Forbidden, Invalid, RequestTooLarge, Unreadable
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.multigres import reasons
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.objects.needed import IncompleteError
from steward.multigres.status.conditions import Report, Stall, assess, common_status, serves
from steward.runtime.reconcile import Reconciler, RequeueAfter, Result

LASTING = (Invalid, BadRequest, Forbidden, RequestTooLarge, Unreadable)
ENDING = "is being terminated"
"""What the server says of a namespace that goes: nothing that anybody has to mend, and no error of anybody."""
ENDING_SECONDS = 5.0


class Telling:
    def __init__(self, reconciler: Reconciler, context: ControllerContext, store: Store[Any]) -> None:
        self._reconciler = reconciler
        self._context = context
        self._store = store

    async def reconcile(self, key: Key) -> Result:
        try:
            return await self._reconciler.reconcile(key)
        except AlreadyExists:
            # Somebody was faster than our look around, or an answer to ourselves was lost: the next try looks again.
            self._context.neighbours.forget(key.namespace)
            raise
        except IncompleteError as error:
            return await self._tell(key, Stall(reasons.INVALID_SPEC, str(error)))
        except LASTING as error:
            if ENDING in str(error):
                return RequeueAfter(ENDING_SECONDS)
            await self._tell(key, Stall(reasons.REFUSED, _told(error)))
            raise

    async def _tell(self, key: Key, stall: Stall) -> Result:
        ref = Ref(self._store.kind, key)
        seen = self._store.get(key)
        plan = () if seen is None else self._context.report(ref, seen, self._status(seen, stall))
        return (await self._context.executor.execute(plan, ref)).result

    def _status(self, seen: Any, stall: Stall) -> Manifest:
        report = Report(seen.metadata, seen.status.conditions, self._context.now())
        health = assess([], stall)._replace(is_available=serves(seen.status.conditions))
        before: Manifest = msgspec.to_builtins(seen.status)
        return {**before, **common_status(report, health)}


def _told(error: Exception) -> str:
    """The server's words, and the first note: which object it was about."""
    notes = getattr(error, "__notes__", [])
    return f"{notes[0].removeprefix('while ')}: {error}" if notes else str(error)
