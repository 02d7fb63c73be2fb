"""The Secret beside a Tenant is made, kept and taken away, and nobody else's Secret of that name is ever touched."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.errors import AlreadyExists
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.runtime.plan.steps import Apply, Delete, Plan
from steward.tenants import labels as marks
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.controllers.registry.tenant_writer import FleetWriter
from steward.tenants.rendering.render import prepare_template
from steward.tenants.rendering.tenant_manifest import TemplateInUse, WantedTenant
from steward.tenants.sources.rows import Row
from tests.tenants.support.manifests import Manifest, resource, template
from tests.tenants.support.offline_context import ground_with

PROD = ObjectMeta(name="prod", namespace="shop", uid="r")
VALUES = Key("shop", "acme-web-values")
OURS = {marks.TENANT: "acme-web", marks.TENANT_NAMESPACE: "shop"}
APPLIED = {
    "manager": marks.FIELD_MANAGER,
    "operation": "Apply",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:metadata": {"f:labels": {}}},
}
SECRET = resource("password", spec={"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "b"}})


class Server:
    """Holds Secrets, some of which no cache shows, and notes what is done to them."""

    def __init__(self) -> None:
        self.context = ground_with(self)
        self.context.client = SimpleNamespace(get=self.get)  # type: ignore[assignment]
        self.secrets: dict[Key, Manifest] = {}
        self.done: list[str] = []

    def hold(self, labels: dict[str, str], annotations: dict[str, str] | None = None) -> None:
        metadata = {"name": VALUES.name, "namespace": VALUES.namespace, "uid": "s", "resourceVersion": "3"}
        marked = metadata | {"labels": labels, "annotations": annotations or {}, "managedFields": [APPLIED]}
        self.secrets[VALUES] = {"apiVersion": "v1", "kind": "Secret", "metadata": marked}
        if marks.TENANT in labels:
            self._show(self.context.rules.secret, self.secrets[VALUES])

    async def get(self, kind: Kind, key: Key, view: type[Metadata]) -> Metadata:
        return msgspec.convert(self.secrets[key], view)

    async def execute(self, plan: Plan, about: object) -> None:
        for step in plan:
            if isinstance(step, Delete):
                self.done.append(f"delete {step.ref.key.name}")
            elif isinstance(step, Apply) and step.ref.kind.kind == "Tenant":
                whole = step.manifest["metadata"] | {"uid": "t", "resourceVersion": "9"}
                self._show(self.context.rules.every_tenant, {**step.manifest, "metadata": whole})
            elif isinstance(step, Apply):
                if step.only_if_absent and step.ref.key in self.secrets:
                    raise AlreadyExists(409, "AlreadyExists", "it is there", {})
                self.done.append(f"apply {step.ref.key.name}")

    def _show(self, rule: Any, manifest: Manifest) -> None:
        self.context.store(rule).observe(msgspec.json.encode(manifest))


def wanted(**lists: Any) -> WantedTenant:
    spec = msgspec.convert(template(**lists)["spec"], TenantTemplateSpec)
    in_use = TemplateInUse("web", 1, "v1", spec, prepare_template(spec))
    return WantedTenant("acme-web", Row("acme", "acme.example.com", "1", {}), in_use)


async def write(server: Server, **lists: Any) -> list[str]:
    """What is told of the row."""
    writer = FleetWriter(server.context)
    written = await writer.write([wanted(**lists)], PROD)
    assert written.failures == []
    return [row.reason for row in writer.refused.values()]


@pytest.fixture
def server() -> Server:
    return Server()


async def test_values_are_made_where_nothing_stands(server: Server) -> None:
    assert await write(server, secrets=[SECRET]) == []
    assert server.done == ["apply acme-web-values"]


async def test_our_own_values_are_written_again_even_if_no_cache_shows_them_yet(server: Server) -> None:
    server.hold(OURS)
    server.context.store(server.context.rules.secret).forget(VALUES, "s")
    assert await write(server, secrets=[SECRET]) == []
    assert server.done == ["apply acme-web-values"]


STRANGERS = [
    pytest.param({}, {}, id="a-users-secret"),
    pytest.param({marks.TENANT: "acme-db", marks.TENANT_NAMESPACE: "shop"}, {}, id="another-tenants"),
    pytest.param(OURS, {marks.DELETION_POLICY: "Delete"}, id="one-that-the-tenant-applied"),
]


@pytest.mark.parametrize(("labels", "annotations"), STRANGERS)
async def test_a_strangers_secret_is_left_alone_and_the_row_is_told(
    server: Server, labels: dict[str, str], annotations: dict[str, str]
) -> None:
    server.hold(labels, annotations)
    (told,) = await write(server, secrets=[SECRET])
    assert "acme-web-values" in told
    assert server.done == []


@pytest.mark.parametrize(("labels", "annotations"), STRANGERS)
async def test_a_tenant_without_secrets_takes_no_strangers_secret_away(
    server: Server, labels: dict[str, str], annotations: dict[str, str]
) -> None:
    server.hold(labels, annotations)
    assert await write(server) == []
    assert server.done == []


async def test_values_go_when_the_tenant_has_no_secrets_any_more(server: Server) -> None:
    server.hold(OURS)
    assert await write(server) == []
    assert server.done == ["delete acme-web-values"]


async def test_what_cannot_be_put_back_calls_for_no_read_after_read(server: Server) -> None:
    writer = FleetWriter(server.context)
    await writer.write([wanted(secrets=[SECRET])], PROD)
    assert not writer.has_drifted(1)
    server.hold({marks.TENANT: "acme-db", marks.TENANT_NAMESPACE: "shop"})
    assert writer.has_drifted(2)
    await writer.write([wanted(secrets=[SECRET])], PROD)
    assert list(writer.refused) == ["acme-web"]
    assert not writer.has_drifted(3)


@pytest.mark.parametrize(("until", "made"), [(0, []), (1, ["acme-web-values"]), (9, ["acme-web-values"] * 3)])
async def test_an_edit_does_not_wait_for_a_fleet_of_the_version_before_it(
    server: Server, until: int, made: list[str]
) -> None:
    asked: list[bool] = []

    def is_current() -> bool:
        asked.append(len(asked) < until)
        return asked[-1]

    fleet = [wanted(secrets=[SECRET])] * 3
    written = await FleetWriter(server.context).write(fleet, PROD, is_current)
    assert written.is_cut_short == (until < len(fleet))
    assert server.done == [f"apply {name}" for name in made]
