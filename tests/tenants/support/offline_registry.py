"""A registry with its template and Tenants, without a server: applied objects are in the caches at once."""

from collections.abc import Sequence
from typing import Any

import msgspec

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.client.decode import Listing
from steward.kube.errors import Invalid, NotFound, Unreachable
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.executor import PlanResult
from steward.runtime.plan.steps import Apply, Delete, Plan
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.registry.active_templates import ActiveTemplates
from steward.tenants.controllers.registry.state import RegistryState
from steward.tenants.controllers.registry.sync import RegistrySyncer
from steward.tenants.controllers.registry.table_reads import FinishedRead, SyncInputs
from steward.tenants.controllers.registry.tenant_writer import TenantWriter
from steward.tenants.controllers.template.active_revision import activation_steps
from steward.tenants.labels import FIELD_MANAGER
from steward.tenants.sources.rows import registry_columns, sort_rows
from steward.tenants.validation.registry import parse_registry
from steward.tenants.views import Registry, Tenant
from tests.tenants.support.executed_plan import executed_plan
from tests.tenants.support.manifests import registry, template
from tests.tenants.support.offline_context import offline_context

PROD = Key("shop", "prod")
APPLIED_FIELDS = {
    "manager": FIELD_MANAGER,
    "operation": "Apply",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {}},
}


class Server:
    """Executes plans on the caches, and records what it applies and deletes."""

    def __init__(self) -> None:
        self.context: TenantsContext
        self.applied: list[str] = []
        self.deleted: list[str] = []
        self.is_down = False
        self.rejected: set[str] = set()
        """Names of Tenants that the server rejects."""
        self._applied: dict[str, dict[str, Any]] = {}
        self._version = 10

    async def execute(self, plan: Plan, about: object) -> PlanResult:
        for step in plan:
            if self.is_down:
                raise Unreachable("no answer")
            if isinstance(step, Apply):
                if step.ref.key.name in self.rejected:
                    raise Invalid(422, "Invalid", "rejected", {})
                self.applied.append(step.manifest["metadata"]["name"])
                self._applied[step.ref.key.name] = step.manifest
                self.observe(step.manifest)
            elif isinstance(step, Delete):
                self.deleted.append(step.ref.key.name)
        return executed_plan(self.context, plan)

    @property
    def specs(self) -> dict[str, dict[str, Any]]:
        """By name, the spec of each applied object."""
        return {name: manifest["spec"] for name, manifest in self._applied.items()}

    async def list(self, *_: object) -> Listing[Tenant]:
        return Listing(self.context.fleets.tenants.list(), "1")

    async def get(self, kind: Kind, key: Key, view: type[Tenant]) -> Tenant:
        found = self.context.fleets.tenants.get(key)
        if found is None:
            raise NotFound(404, "NotFound", "not found", {})
        return found

    def make_ready(self, name: str, status: str = "True") -> None:
        ready = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": status}]}
        self.observe({**self._applied[name], "status": ready})

    def observe(self, manifest: dict[str, Any]) -> None:
        self._version += 1
        meta = manifest["metadata"]
        stored = {
            "namespace": "shop",
            "uid": meta["name"],
            "resourceVersion": str(self._version),
            "generation": 1,
            "managedFields": [APPLIED_FIELDS | {"apiVersion": manifest["apiVersion"]}],
        }
        body = msgspec.json.encode({**manifest, "metadata": {**stored, **meta}})
        self._store(manifest["kind"]).observe_write(body)

    def _store(self, kind: str) -> Store[Any]:
        rules = self.context.rules
        watched: tuple[CacheRule[Any], ...] = (
            rules.registry,
            rules.template,
            rules.revision,
            rules.every_tenant,
        )
        return self.context.store(next(rule for rule in watched if rule.kind.kind == kind))


class OfflineRegistry:
    """A registry with one template, and rows that the test gives."""

    def __init__(self, server: Server, profile: str = "hermetic", **template_spec: Any) -> None:
        self.server = server
        self._template = template(**template_spec)
        self.context = server.context = offline_context(server)
        self.context.client = server  # type: ignore[assignment]
        server.observe(registry(templateProfile=profile))
        server.observe(self._template)
        self._activate_template()
        self.state = RegistryState("r", TenantWriter(self.context))
        self.is_edited = False
        self.syncer = RegistrySyncer(
            self.context, ActiveTemplates(self.context), lambda *_: not self.is_edited
        )
        self._now = 0.0

    def _activate_template(self) -> None:
        revisions = self.context.store(self.context.rules.revision)
        meta = ObjectMeta(name="web-app", namespace="shop", uid="web-app", generation=1)
        for step in activation_steps(revisions, meta, self._template["spec"]):
            assert isinstance(step, Apply)
            self.server.observe(step.manifest)

    async def sync(self, *uids: str, approval: str = "") -> list[str]:
        """Syncs with these rows; returns what is written or deleted."""
        return await self.sync_rows([(uid, f"{uid}.example.com", "1") for uid in uids], approval)

    async def sync_rows(self, values: Sequence[Sequence[Any]], approval: str = "") -> list[str]:
        """The same with uid, hostOrUrl and activate of each row."""
        found, spec = self._registry()
        rows = sort_rows(registry_columns(spec), values)
        self._now += 10.0
        self.server.applied.clear()
        inputs = SyncInputs(0, "r", 1, approval, ())
        await self.syncer.handle_read(found, spec, self.state, FinishedRead(self._now, inputs, rows, None))
        return self.server.applied + [f"- {name}" for name in self.server.deleted]

    def forget_written(self) -> None:
        """As after a restart."""
        self.state = RegistryState("r", TenantWriter(self.context))

    async def write_pending(self) -> list[str]:
        """Writes pending rows; returns what is written."""
        self.server.applied.clear()
        assert self.state.pending_rows is not None
        await self.syncer.write_tenants(*self._registry(), self.state, self.state.pending_rows)
        return self.server.applied

    def _registry(self) -> tuple[Registry, TenantRegistrySpec]:
        found = self.context.store(self.context.rules.registry).get(PROD)
        assert isinstance(found, Registry)
        spec, _ = parse_registry(found)
        assert spec is not None
        return found, spec
