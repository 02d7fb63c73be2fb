"""A template leaves when nothing of it is left, and nothing of it can come up any more."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.kinds import Key
from steward.runtime.plan import Patch, Requeue
from steward.tenants import marks
from steward.tenants.controllers.ground import Ground
from steward.tenants.controllers.template import TemplateReconciler
from tests.tenants.manifests import template
from tests.tenants.quiet_ground import ground_with

WEB = Key("shop", "web-app")


class Carried:
    """Keeps the plans that would have been carried out."""

    def __init__(self) -> None:
        self.steps: list[Any] = []

    async def carry_out(self, plan: Any, about: object) -> SimpleNamespace:
        self.steps = list(plan)
        return SimpleNamespace(result=None)


@pytest.fixture
def carried() -> Carried:
    return Carried()


@pytest.fixture
def ground(carried: Carried) -> Ground:
    found = ground_with(carried)
    leaving = template("web-app")
    leaving["metadata"] |= {
        "namespace": "shop",
        "uid": "t-1",
        "resourceVersion": "5",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": [marks.TEMPLATE_FINALIZER],
    }
    found.store(found.rules.template).observe(msgspec.json.encode(leaving))
    return found


async def test_a_template_without_tenants_leaves(ground: Ground, carried: Carried) -> None:
    await TemplateReconciler(ground).reconcile(WEB)
    assert isinstance(carried.steps[0], Patch)


async def test_a_template_stays_while_a_tenant_of_it_may_still_be_written(
    ground: Ground, carried: Carried
) -> None:
    with ground.writing({WEB}):
        await TemplateReconciler(ground).reconcile(WEB)
    assert [type(step) for step in carried.steps] == [Requeue]
    await TemplateReconciler(ground).reconcile(WEB)
    assert isinstance(carried.steps[0], Patch)
