"""A sync that cannot delete what it must says so, and is tried again."""

from typing import Any

import pytest

from steward.kube.errors import Forbidden
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.steps import Delete, Emit, Plan
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.active_templates import TemplatesInUse
from steward.tenants.controllers.registry.guard_plan import Sentence
from steward.tenants.controllers.registry.sync import Syncs
from steward.tenants.guard.judge import Memory, Verdict
from steward.tenants.views import Tenant
from tests.tenants.support.offline_context import ground_with

PROD = Ref(REGISTRY, Key("shop", "prod"))
TENANT = Tenant(ObjectMeta(name="acme-web", namespace="shop", uid="t-1"))


class Denying:
    """May delete nothing."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def execute(self, plan: Plan, about: Any) -> None:
        if any(isinstance(step, Delete) for step in plan):
            raise Forbidden(403, "Forbidden", "no right to delete tenants", {})
        self.said += [step.reason for step in plan if isinstance(step, Emit)]


@pytest.mark.parametrize(("delete", "said"), [(("acme-web",), ["TenantDeletionFailed"]), ((), [])])
async def test_a_deletion_that_fails_is_told(delete: tuple[str, ...], said: list[str]) -> None:
    executor = Denying()
    context = ground_with(executor)
    syncs = Syncs(context, TemplatesInUse(context))
    sentence = Sentence(PROD, Verdict(Memory(), delete=delete), {"acme-web": TENANT}, ())
    if delete:
        with pytest.raises(Forbidden):
            await syncs.execute(sentence)
    else:
        await syncs.execute(sentence)
    assert executor.said == said
