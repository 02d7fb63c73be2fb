"""The finalizer of a template is removed when it has no Tenants and no more can be written."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import Key
from steward.runtime.plan.steps import Delete, Patch, Requeue, Status
from steward.tenants import labels
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.template.reconciler import TenantTemplateReconciler
from steward.tenants.guard.approval import names_digest
from tests.tenants.support.manifests import template, tenant
from tests.tenants.support.offline_context import offline_context

WEB = Key("shop", "web-app")


class RecordingExecutor:
    """Records the last plan."""

    def __init__(self) -> None:
        self.steps: list[Any] = []

    async def execute(self, plan: Any, about: object) -> SimpleNamespace:
        self.steps = list(plan)
        return SimpleNamespace(result=None)


@pytest.fixture
def executor() -> RecordingExecutor:
    return RecordingExecutor()


def approved(*names: str) -> dict[str, str]:
    return {labels.APPROVE_DELETION: f"{len(names)}-{names_digest(names)}"}


def observe_tenants(context: TenantsContext, *names: str) -> None:
    for name in names:
        found = tenant(name, uid=name)
        found["metadata"] |= {"namespace": "shop", "uid": name, "resourceVersion": "6"}
        context.store(context.rules.every_tenant).observe_write(msgspec.json.encode(found))


@pytest.fixture
def context(executor: RecordingExecutor) -> TenantsContext:
    found = offline_context(executor)
    terminating = template("web-app")
    terminating["metadata"] |= {
        "namespace": "shop",
        "uid": "t-1",
        "resourceVersion": "5",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": [labels.TEMPLATE_FINALIZER],
        "annotations": approved("acme", "bob"),
    }
    found.store(found.rules.template).observe_write(msgspec.json.encode(terminating))
    return found


async def test_the_finalizer_of_a_template_without_tenants_is_removed(
    context: TenantsContext, executor: RecordingExecutor
) -> None:
    await TenantTemplateReconciler(context).reconcile(WEB)
    assert isinstance(executor.steps[0], Patch)


async def test_the_finalizer_stays_while_a_tenant_may_still_be_written(
    context: TenantsContext, executor: RecordingExecutor
) -> None:
    with context.rollouts.writing({WEB}):
        await TenantTemplateReconciler(context).reconcile(WEB)
    assert [type(step) for step in executor.steps] == [Requeue]
    await TenantTemplateReconciler(context).reconcile(WEB)
    assert isinstance(executor.steps[0], Patch)


async def test_the_release_is_written_before_the_first_tenant_is_deleted(
    context: TenantsContext, executor: RecordingExecutor
) -> None:
    observe_tenants(context, "acme", "bob")
    await TenantTemplateReconciler(context).reconcile(WEB)
    assert [type(step) for step in executor.steps] == [Status, Delete, Delete]
    reasons = {each["type"]: each["reason"] for each in executor.steps[0].status["conditions"]}
    assert reasons["DeletionHeld"] == "DeletionReleased"


async def test_an_approval_waits_until_the_last_write_of_a_tenant_has_ended(
    context: TenantsContext, executor: RecordingExecutor
) -> None:
    observe_tenants(context, "acme", "bob")
    with context.rollouts.writing({WEB}):
        await TenantTemplateReconciler(context).reconcile(WEB)
    assert [type(step) for step in executor.steps] == [Requeue]
