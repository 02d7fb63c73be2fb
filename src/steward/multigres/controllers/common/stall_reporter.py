"""Writes the Stalled condition of multigres objects: after lasting errors (`runtime.status.stall_reporter`), and for
specs that lack a field."""

from typing import Any

import msgspec

from steward.kube.cache.store import Store
from steward.kube.errors import AlreadyExists
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.multigres import reasons
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects.topo_access import IncompleteSpecError
from steward.multigres.status.conditions import (
    Stall,
    StatusContext,
    assess_health,
    common_status,
    was_available,
)
from steward.runtime.reconcile import Reconciler, Result
from steward.runtime.status.stall_reporter import StallReportingReconciler


class MultigresStallReporter:
    def __init__(self, reconciler: Reconciler, context: MultigresContext, store: Store[Any]) -> None:
        self._reconciler = StallReportingReconciler(reconciler, self._report_rejection)
        self._context = context
        self._store = store

    async def reconcile(self, key: Key) -> Result:
        try:
            return await self._reconciler.reconcile(key)
        except AlreadyExists:
            # The object was created after the check for foreign objects, or the response to our own create was lost.
            self._context.foreign_objects.forget(key.namespace)
            raise
        except IncompleteSpecError as error:
            return await self._report_stall(key, Stall(reasons.INVALID_SPEC, str(error)))

    async def _report_rejection(self, key: Key, message: str) -> Result:
        return await self._report_stall(key, Stall(reasons.REFUSED, message))

    async def _report_stall(self, key: Key, stall: Stall) -> Result:
        ref = Ref(self._store.kind, key)
        live = self._store.get(key)
        plan = () if live is None else self._context.reporter.report(ref, live, self._status(live, stall))
        return (await self._context.executor.execute(plan, ref)).result

    def _status(self, live: Any, stall: Stall) -> Manifest:
        context = StatusContext(live.metadata, live.status.conditions, self._context.now())
        health = assess_health([], stall)._replace(is_available=was_available(live.status.conditions))
        previous: Manifest = msgspec.to_builtins(live.status)
        return {**previous, **common_status(context, health)}
