"""Which Namespaces decide what a Tenant may write, and which Tenants a change of them wakes."""

import json
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.clock import SystemClock
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import NAMESPACE, Key, Kind
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.manager.settings import Settings
from steward.runtime.partition import Partition
from steward.tenants.api.resource import TResource
from steward.tenants.api.tenant import TenantSpec, TenantStatus
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common.child_watches import ChildWatches
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.access import AccessResolver, without_unapplied
from steward.tenants.labels import ALLOW_TEMPLATES_FROM, BUCKET, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.desired import DesiredObject, ObjectScope, desired_objects
from steward.tenants.views import Tenant, TenantSpecSummary
from tests.tenants.support.fleet import config_map, resource

ACME = Key("saas", "acme")


class Process:
    """A process of the operator, with its stores and a server that has the Tenants of other parts."""

    def __init__(self, **settings: Any) -> None:
        self.stores: dict[CacheRule[Any], Store[Any]] = {}
        self.reads: list[Key] = []
        self.woken: list[Key] = []
        found = Settings(**settings)
        manager: Any = SimpleNamespace(
            client=self,
            connection=SimpleNamespace(clock=SystemClock(), operator_namespace=""),
            executor=lambda _: None,
            store=lambda rule: self.stores.setdefault(rule, Store(rule)),
        )
        self.children = ChildWatches(manager, found)
        self.children.channel.connect(lambda key, lane: self.woken.append(key))
        self.resolver = AccessResolver(TenantsContext(manager, found), self.children)
        self._version = 0

    async def get(self, kind: Kind, key: Key, view: Any) -> Tenant:
        self.reads.append(key)
        if key.name != "elsewhere":
            raise NotFound(404, "NotFound", "no such Tenant")
        return Tenant(ObjectMeta(name=key.name), TenantSpecSummary(template_ref="web"))

    def observe(self, kind: Kind, name: str, namespace: str = "", **fields: Any) -> None:
        self._version += 1
        labels = fields.pop("labels", {})
        metadata = {"name": name, "namespace": namespace, "uid": name, "labels": labels}
        metadata["resourceVersion"] = str(self._version)
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}
        for store in self.stores.values():
            if store.kind == kind:
                store.observe_write(json.dumps(whole).encode())

    async def may_write_to(self, namespace: str) -> bool:
        access = await self.resolver.access(tenant_document(), objects_in(namespace))
        return access.refusal(objects_in(namespace)[0]) is None


def tenant_document(**status: Any) -> TenantDocument:
    whole = {"uid": "acme", "templateRef": "web", "templateGeneration": 1}
    meta = ObjectMeta(name=ACME.name, namespace=ACME.namespace, uid="u")
    return TenantDocument(meta, msgspec.convert(whole, TenantSpec), msgspec.convert(status, TenantStatus))


def objects_in(namespace: str) -> tuple[DesiredObject, ...]:
    found = msgspec.convert(resource("a", config_map("a", namespace)), TResource)
    owner = cast(Any, SimpleNamespace(name="acme", namespace="saas", uid="u", bucket=""))
    return desired_objects([found], ObjectScope(owner, (), None))


def made_by(tenant: str) -> dict[str, str]:
    return {TENANT: tenant, TENANT_NAMESPACE: "saas"}


async def test_a_label_opens_a_namespace_and_wakes_those_who_write_to_it() -> None:
    process = Process()
    assert not await process.may_write_to("other")
    process.observe(NAMESPACE, "third", labels={ALLOW_TEMPLATES_FROM: "saas"})
    assert process.woken == []
    process.observe(NAMESPACE, "other", labels={ALLOW_TEMPLATES_FROM: "saas"})
    assert process.woken == [ACME]
    process.observe(NAMESPACE, "other", labels={ALLOW_TEMPLATES_FROM: "saas"}, status={"phase": "Active"})
    assert process.woken == [ACME]
    assert await process.may_write_to("other")


async def test_a_tenant_is_woken_for_the_namespaces_of_its_last_reconcile_only() -> None:
    process = Process()
    await process.may_write_to("other")
    await process.may_write_to("saas")
    process.observe(NAMESPACE, "other", labels={ALLOW_TEMPLATES_FROM: "saas"})
    assert process.woken == []


async def test_a_namespace_of_another_tenant_of_the_template_is_open() -> None:
    process = Process()
    process.observe(TENANT_KIND, "bolt", "saas", spec={"templateRef": "web"})
    process.observe(TENANT_KIND, "cog", "saas", spec={"templateRef": "jobs"})
    process.observe(NAMESPACE, "bolts", labels=made_by("bolt"))
    process.observe(NAMESPACE, "cogs", labels=made_by("cog"))
    assert await process.may_write_to("bolts")
    assert not await process.may_write_to("cogs")
    assert process.reads == []


async def test_a_tenant_of_another_part_is_read_from_the_server() -> None:
    process = Process(partition=Partition(0, 2))
    process.observe(NAMESPACE, "open", labels=made_by("elsewhere") | {BUCKET: "1"})
    process.observe(NAMESPACE, "closed", labels=made_by("deleted") | {BUCKET: "1"})
    assert await process.may_write_to("open")
    assert not await process.may_write_to("closed")
    assert process.reads == [Key("saas", "elsewhere"), Key("saas", "deleted")]
    process.observe(NAMESPACE, "odd", labels={TENANT_NAMESPACE: "saas", ALLOW_TEMPLATES_FROM: "mart"})
    assert not await process.may_write_to("odd")


@pytest.mark.parametrize(
    "settings", [{"no_cross_namespace": True, "namespaces": ("saas",)}, {"template_scope": "cluster"}]
)
async def test_no_namespace_with_a_label_is_watched_where_it_decides_nothing(
    settings: dict[str, Any],
) -> None:
    process = Process(**settings)
    selectors = [dict(rule.selectors) for rule in process.stores if rule.kind == NAMESPACE]
    assert {"*": ALLOW_TEMPLATES_FROM} not in selectors
    assert await process.may_write_to("other") == ("template_scope" in settings)


async def test_a_deleted_tenant_is_not_woken() -> None:
    process = Process()
    await process.may_write_to("other")
    process.resolver.forget(ACME)
    process.observe(NAMESPACE, "other", labels={ALLOW_TEMPLATES_FROM: "saas"})
    assert process.woken == []


async def test_a_refused_object_is_recorded_only_if_it_was_applied_before() -> None:
    """Also where a resource with the same id is allowed."""
    process = Process()
    objects = (*objects_in("other"), *objects_in("saas"))
    assert [each.id for each in objects] == ["a", "a"]
    document = tenant_document()
    access = await process.resolver.access(document, objects)
    assert without_unapplied(objects, document, access) == objects[1:]
    recorded = tenant_document(appliedResources=["ConfigMap/other/a@a"])
    assert without_unapplied(objects, recorded, access) == objects
