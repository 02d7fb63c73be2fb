"""The values Secret of a Tenant is created, updated and deleted, and a foreign Secret of that name is never touched."""

import asyncio
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.errors import AlreadyExists
from steward.kube.managed_fields.ownership import OwnedFields
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.runtime.plan.executor import PlanResult, StepResult
from steward.runtime.plan.steps import Apply, Delete, Plan
from steward.tenants import labels as tenant_labels
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.controllers.registry.tenant_writer import TenantWriter
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.tenant_manifest import ActiveTemplate, DesiredTenant
from steward.tenants.sources.rows import Row
from steward.testkit.clock import let_others_run
from tests.tenants.support.executed_plan import executed_plan
from tests.tenants.support.manifests import Manifest, resource, template
from tests.tenants.support.offline_context import finish_lists, offline_context

PROD = ObjectMeta(name="prod", namespace="shop", uid="r")
VALUES = Key("shop", "acme-web-values")
MANAGED = {tenant_labels.TENANT: "acme-web", tenant_labels.TENANT_NAMESPACE: "shop"}
APPLIED = {
    "manager": tenant_labels.FIELD_MANAGER,
    "operation": "Apply",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:metadata": {"f:labels": {}}},
}
SECRET = resource("password", spec={"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "b"}})


class Server:
    """Holds Secrets, some of which no cache holds, and records writes to them."""

    def __init__(self, unlisted: Collection[Kind] = ()) -> None:
        self.context = offline_context(self, unlisted)
        self.context.client = SimpleNamespace(get=self.get)  # type: ignore[assignment]
        self.secrets: dict[Key, Manifest] = {}
        self.answers: dict[Key, OwnedFields | None] = {}
        """The fields that we own according to an answer, where the cache shows a later edit already."""
        self.writes: list[str] = []

    def hold(
        self,
        labels: dict[str, str],
        annotations: dict[str, str] | None = None,
        version: str = "3",
        fields: Manifest | None = None,
    ) -> None:
        metadata = {
            "name": VALUES.name,
            "namespace": VALUES.namespace,
            "uid": "s",
            "resourceVersion": version,
        }
        applied = APPLIED if fields is None else {**APPLIED, "fieldsV1": fields}
        marked = metadata | {"labels": labels, "annotations": annotations or {}, "managedFields": [applied]}
        self.secrets[VALUES] = {"apiVersion": "v1", "kind": "Secret", "metadata": marked}
        if tenant_labels.TENANT in labels:
            self._show(self.context.rules.secret, self.secrets[VALUES])

    async def get(self, kind: Kind, key: Key, view: type[Metadata]) -> Metadata:
        return msgspec.convert(self.secrets[key], view)

    async def execute(self, plan: Plan, about: object) -> PlanResult:
        for step in plan:
            if isinstance(step, Delete):
                self.writes.append(f"delete {step.ref.key.name}")
            elif isinstance(step, Apply) and step.ref.kind.kind == "Tenant":
                whole = step.manifest["metadata"] | {"uid": "t", "resourceVersion": "9"}
                self._show(self.context.rules.every_tenant, {**step.manifest, "metadata": whole})
            elif isinstance(step, Apply):
                if step.only_if_absent and step.ref.key in self.secrets:
                    raise AlreadyExists(409, "AlreadyExists", "it exists", {})
                self.writes.append(f"apply {step.ref.key.name}")
        steps = executed_plan(self.context, plan).steps
        return PlanResult([each._replace(owned=self._answered(each)) for each in steps])

    def _answered(self, result: StepResult) -> OwnedFields | None:
        step = result.step
        return self.answers.get(step.ref.key, result.owned) if isinstance(step, Apply) else None

    def _show(self, rule: Any, manifest: Manifest) -> None:
        self.context.store(rule).observe_write(msgspec.json.encode(manifest))


def desired_tenant(**lists: Any) -> DesiredTenant:
    spec = msgspec.convert(template(**lists)["spec"], TenantTemplateSpec)
    active = ActiveTemplate("web", 1, "v1", spec, prepare_template(spec))
    return DesiredTenant("acme-web", Row("acme", "acme.example.com", "1", {}), active)


async def write(server: Server, **lists: Any) -> list[str]:
    """The reasons why rows were rejected."""
    writer = TenantWriter(server.context)
    result = await writer.write([desired_tenant(**lists)], PROD)
    assert result.failures == []
    return [row.reason for row in writer.rejected_rows.values()]


@pytest.fixture
def server() -> Server:
    return Server()


async def test_values_are_created_if_the_secret_does_not_exist(server: Server) -> None:
    assert await write(server, secrets=[SECRET]) == []
    assert server.writes == ["apply acme-web-values"]


async def test_managed_values_are_written_even_if_no_cache_holds_them_yet(server: Server) -> None:
    server.hold(MANAGED)
    server.context.store(server.context.rules.secret).observe_delete(VALUES, "s")
    assert await write(server, secrets=[SECRET]) == []
    assert server.writes == ["apply acme-web-values"]


FOREIGN_SECRETS = [
    pytest.param({}, {}, id="a-users-secret"),
    pytest.param(
        {tenant_labels.TENANT: "acme-db", tenant_labels.TENANT_NAMESPACE: "shop"}, {}, id="another-tenants"
    ),
    pytest.param(MANAGED, {tenant_labels.DELETION_POLICY: "Delete"}, id="one-that-the-tenant-applied"),
]


@pytest.mark.parametrize(("labels", "annotations"), FOREIGN_SECRETS)
async def test_a_foreign_secret_is_not_changed_and_the_row_is_rejected(
    server: Server, labels: dict[str, str], annotations: dict[str, str]
) -> None:
    server.hold(labels, annotations)
    (reason,) = await write(server, secrets=[SECRET])
    assert "acme-web-values" in reason
    assert server.writes == []


@pytest.mark.parametrize(("labels", "annotations"), FOREIGN_SECRETS)
async def test_a_tenant_without_secrets_deletes_no_foreign_secret(
    server: Server, labels: dict[str, str], annotations: dict[str, str]
) -> None:
    server.hold(labels, annotations)
    assert await write(server) == []
    assert server.writes == []


async def test_values_are_deleted_when_the_tenant_has_no_secrets(server: Server) -> None:
    server.hold(MANAGED)
    assert await write(server) == []
    assert server.writes == ["delete acme-web-values"]


async def test_existing_tenants_wait_until_their_values_are_cached_and_new_ones_do_not() -> None:
    server = Server(unlisted=[kinds.SECRET])
    new = desired_tenant(secrets=[SECRET])
    assert (await TenantWriter(server.context).write([new], PROD)).failures == []
    assert server.writes == ["apply acme-web-values"]

    again = asyncio.create_task(TenantWriter(server.context).write([new], PROD))
    await let_others_run()
    assert not again.done()
    finish_lists(server.context.store(server.context.rules.secret))
    await again


async def test_values_that_others_deleted_or_changed_are_drift_and_are_written_again(server: Server) -> None:
    writer, desired = TenantWriter(server.context), [desired_tenant(secrets=[SECRET])]
    server.hold(MANAGED)
    await writer.write(desired, PROD)
    assert not writer.has_drifted(1)

    server.hold(MANAGED, version="4", fields={"f:metadata": {}})
    assert writer.has_drifted(2)
    await writer.write(desired, PROD)
    assert not writer.has_drifted(3)

    server.context.store(server.context.rules.secret).observe_delete(VALUES, "s")
    assert writer.has_drifted(4)
    await writer.write(desired, PROD)
    assert server.writes == ["apply acme-web-values"] * 3


async def test_an_edit_that_the_cache_shows_before_the_answer_to_our_write_is_drift(server: Server) -> None:
    writer, desired = TenantWriter(server.context), [desired_tenant(secrets=[SECRET])]
    server.hold(MANAGED)
    answered = server.context.store(server.context.rules.secret).owned_fields(VALUES)
    server.hold(MANAGED, version="4", fields={"f:metadata": {}})
    server.answers[VALUES] = answered
    await writer.write(desired, PROD)
    assert writer.has_drifted(1)
    server.hold(MANAGED, version="5")
    assert not writer.has_drifted(2)


async def test_a_secret_that_cannot_be_restored_does_not_cause_read_after_read(server: Server) -> None:
    writer = TenantWriter(server.context)
    await writer.write([desired_tenant(secrets=[SECRET])], PROD)
    assert not writer.has_drifted(1)
    server.hold({tenant_labels.TENANT: "acme-db", tenant_labels.TENANT_NAMESPACE: "shop"})
    assert writer.has_drifted(2)
    await writer.write([desired_tenant(secrets=[SECRET])], PROD)
    assert list(writer.rejected_rows) == ["acme-web"]
    assert not writer.has_drifted(3)


@pytest.mark.parametrize(
    ("until", "applied"), [(0, []), (1, ["acme-web-values"]), (9, ["acme-web-values"] * 3)]
)
async def test_an_edit_does_not_wait_for_a_fleet_of_the_previous_version(
    server: Server, until: int, applied: list[str]
) -> None:
    answers: list[bool] = []

    def is_current() -> bool:
        answers.append(len(answers) < until)
        return answers[-1]

    fleet = [desired_tenant(secrets=[SECRET])] * 3
    result = await TenantWriter(server.context).write(fleet, PROD, is_current)
    assert result.is_aborted == (until < len(fleet))
    assert server.writes == [f"apply {name}" for name in applied]
