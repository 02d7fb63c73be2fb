"""A template leaves when nothing of it is left, and nothing of it can come up any more."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import Key
from steward.runtime.plan.steps import Delete, Patch, Requeue, Status
from steward.tenants import labels
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.template.reconciler import TemplateReconciler
from steward.tenants.guard.approval import digest_of
from tests.tenants.support.manifests import template, tenant
from tests.tenants.support.offline_context import ground_with

WEB = Key("shop", "web-app")


class Carried:
    """Keeps the plans that would have been carried out."""

    def __init__(self) -> None:
        self.steps: list[Any] = []

    async def execute(self, plan: Any, about: object) -> SimpleNamespace:
        self.steps = list(plan)
        return SimpleNamespace(result=None)


@pytest.fixture
def carried() -> Carried:
    return Carried()


def approved(*names: str) -> dict[str, str]:
    return {labels.APPROVE_DELETION: f"{len(names)}-{digest_of(names)}"}


def put_tenants(context: ControllerContext, *names: str) -> None:
    for name in names:
        found = tenant(name, uid=name)
        found["metadata"] |= {"namespace": "shop", "uid": name, "resourceVersion": "6"}
        context.store(context.rules.every_tenant).observe(msgspec.json.encode(found))


@pytest.fixture
def context(carried: Carried) -> ControllerContext:
    found = ground_with(carried)
    leaving = template("web-app")
    leaving["metadata"] |= {
        "namespace": "shop",
        "uid": "t-1",
        "resourceVersion": "5",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": [labels.TEMPLATE_FINALIZER],
        "annotations": approved("acme", "bob"),
    }
    found.store(found.rules.template).observe(msgspec.json.encode(leaving))
    return found


async def test_a_template_without_tenants_leaves(context: ControllerContext, carried: Carried) -> None:
    await TemplateReconciler(context).reconcile(WEB)
    assert isinstance(carried.steps[0], Patch)


async def test_a_template_stays_while_a_tenant_of_it_may_still_be_written(
    context: ControllerContext, carried: Carried
) -> None:
    with context.writing({WEB}):
        await TemplateReconciler(context).reconcile(WEB)
    assert [type(step) for step in carried.steps] == [Requeue]
    await TemplateReconciler(context).reconcile(WEB)
    assert isinstance(carried.steps[0], Patch)


async def test_that_its_tenants_were_named_is_written_down_before_the_first_goes(
    context: ControllerContext, carried: Carried
) -> None:
    put_tenants(context, "acme", "bob")
    await TemplateReconciler(context).reconcile(WEB)
    assert [type(step) for step in carried.steps] == [Status, Delete, Delete]
    reasons = {each["type"]: each["reason"] for each in carried.steps[0].status["conditions"]}
    assert reasons["DeletionHeld"] == "DeletionReleased"


async def test_an_approval_waits_until_the_last_write_of_a_tenant_has_ended(
    context: ControllerContext, carried: Carried
) -> None:
    put_tenants(context, "acme", "bob")
    with context.writing({WEB}):
        await TemplateReconciler(context).reconcile(WEB)
    assert [type(step) for step in carried.steps] == [Requeue]
