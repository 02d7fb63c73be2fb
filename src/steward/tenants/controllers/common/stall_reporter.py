"""Writes the Stalled condition of registries and templates after lasting errors (`runtime.status.stall_reporter`)."""

from dataclasses import replace
from typing import Any

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key, Ref
from steward.runtime.controller.controller import Controller
from steward.runtime.plan.steps import Status
from steward.runtime.status.stall_reporter import StallReportingReconciler
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.status.conditions import stalled_status


def with_stall_reporting(controller: Controller, context: TenantsContext) -> Controller:
    reporter = TenantsStallReporter(context, context.store(controller.for_trigger.rule))
    return replace(
        controller, reconciler=StallReportingReconciler(controller.reconciler, reporter.report_stall)
    )


class TenantsStallReporter:
    def __init__(self, context: TenantsContext, store: Store[Any]) -> None:
        self._context = context
        self._store = store

    async def report_stall(self, key: Key, message: str) -> None:
        live = self._store.get(key)
        if live is None:
            return
        ref = Ref(self._store.kind, key)
        status = stalled_status(live.status, live.metadata.generation, message, self._context.now())
        await self._context.executor.execute((Status(ref, status),), ref)
