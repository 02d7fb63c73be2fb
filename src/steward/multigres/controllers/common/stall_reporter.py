"""Writes the Stalled condition of multigres objects: after lasting errors (`runtime.status.stall_reporter`), and for
specs that lack a field."""

import logging
from typing import Any

import msgspec

from steward.kube.cache.store import Store
from steward.kube.errors import AlreadyExists, Invalid
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
from steward.runtime.reconcile import DONE, Reconciler, Result
from steward.runtime.status.stall_reporter import StallReportingReconciler

log = logging.getLogger(__name__)


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
        live = self._store.get(key)
        if live is None:
            return DONE
        summary, previous = self._summary(live, stall), msgspec.to_builtins(live.status)
        try:
            return await self._write(key, live, {**previous, **summary})
        except Invalid as rejection:
            # A field of the previous status keeps the new one from being written. Without it, the status says why.
            log.warning("the status of %s is rejected, and written without its details: %s", key, rejection)
            return await self._write(key, live, summary)

    async def _write(self, key: Key, live: Any, status: Manifest) -> Result:
        ref = Ref(self._store.kind, key)
        plan = self._context.reporter.report(ref, live, status)
        return (await self._context.executor.execute(plan, ref)).result

    def _summary(self, live: Any, stall: Stall) -> Manifest:
        """Conditions, phase and message: the part of a status that all kinds share."""
        context = StatusContext(live.metadata, live.status.conditions, self._context.now())
        health = assess_health([], stall)._replace(is_available=was_available(live.status.conditions))
        return common_status(context, health)
