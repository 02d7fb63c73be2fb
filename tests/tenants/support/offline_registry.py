"""A registry with its template and Tenants without a server: what is applied is what the caches show."""

from typing import Any

import msgspec

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.client.decode import Listing
from steward.kube.errors import Invalid, NotFound, Unreachable
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.steps import Apply, Delete, Plan
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.registry.active_templates import TemplatesInUse
from steward.tenants.controllers.registry.state import RegistryMemory
from steward.tenants.controllers.registry.sync import Syncs
from steward.tenants.controllers.registry.table_reads import Finished, Inputs
from steward.tenants.controllers.registry.tenant_writer import FleetWriter
from steward.tenants.controllers.template.active_revision import put_in_force
from steward.tenants.labels import FIELD_MANAGER
from steward.tenants.sources.rows import columns_of, sort_rows
from steward.tenants.validation.registry import typed
from steward.tenants.views import Registry, Tenant
from tests.tenants.support.manifests import registry, template
from tests.tenants.support.offline_context import ground_with

PROD = Key("shop", "prod")
OURS = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}


class Server:
    """Keeps what is applied, as the caches would show it, and counts."""

    def __init__(self) -> None:
        self.context: ControllerContext
        self.applied: list[str] = []
        self.deleted: list[str] = []
        self.is_down = False
        self.refused: set[str] = set()
        """Names of Tenants that the server does not take."""
        self._kept: dict[str, dict[str, Any]] = {}
        self._version = 10

    async def execute(self, plan: Plan, about: object) -> None:
        for step in plan:
            if self.is_down:
                raise Unreachable("nobody answers")
            if isinstance(step, Apply):
                if step.ref.key.name in self.refused:
                    raise Invalid(422, "Invalid", "it is not taken", {})
                self.applied.append(step.manifest["metadata"]["name"])
                self._kept[step.ref.key.name] = step.manifest
                self.show(step.manifest)
            elif isinstance(step, Delete):
                self.deleted.append(step.ref.key.name)

    async def list(self, *_: object) -> Listing[Tenant]:
        return Listing(self.context.fleets.tenants.list(), "1")

    async def get(self, kind: Kind, key: Key, view: type[Tenant]) -> Tenant:
        found = self.context.fleets.tenants.get(key)
        if found is None:
            raise NotFound(404, "NotFound", "it is not there", {})
        return found

    def make_ready(self, name: str) -> None:
        ready = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}
        self.show({**self._kept[name], "status": ready})

    def show(self, manifest: dict[str, Any]) -> None:
        self._version += 1
        meta = manifest["metadata"]
        shown = {
            "namespace": "shop",
            "uid": meta["name"],
            "resourceVersion": str(self._version),
            "generation": 1,
            "managedFields": [OURS | {"apiVersion": manifest["apiVersion"]}],
        }
        body = msgspec.json.encode({**manifest, "metadata": {**shown, **meta}})
        self._store(manifest["kind"]).observe(body)

    def _store(self, kind: str) -> Store[Any]:
        rules = self.context.rules
        watched: tuple[CacheRule[Any], ...] = (
            rules.registry,
            rules.template,
            rules.revision,
            rules.every_tenant,
        )
        return self.context.store(next(rule for rule in watched if rule.kind.kind == kind))


class Table:
    """A registry with one template, whose table says what the test says."""

    def __init__(self, server: Server, **template_spec: Any) -> None:
        self.server = server
        self._template = template(**template_spec)
        self.context = server.context = ground_with(server)
        self.context.client = server  # type: ignore[assignment]
        server.show(registry())
        server.show(self._template)
        self._put_in_force()
        self.memory = RegistryMemory("r", FleetWriter(self.context))
        self.is_edited = False
        self.syncs = Syncs(self.context, TemplatesInUse(self.context), lambda *_: not self.is_edited)
        self._now = 0.0

    def _put_in_force(self) -> None:
        revisions = self.context.store(self.context.rules.revision)
        meta = ObjectMeta(name="web-app", namespace="shop", uid="web-app", generation=1)
        for step in put_in_force(revisions, meta, self._template["spec"]):
            assert isinstance(step, Apply)
            self.server.show(step.manifest)

    async def sync(self, *uids: str, approval: str = "") -> list[str]:
        """What is written or deleted for these rows."""
        found, spec = self._registry()
        rows = sort_rows(columns_of(spec), [(uid, f"{uid}.example.com", "1") for uid in uids])
        self._now += 10.0
        self.server.applied.clear()
        inputs = Inputs(None, "r", 1, approval, ())
        await self.syncs.take_in(found, spec, self.memory, Finished(self._now, inputs, rows, None))
        return self.server.applied + [f"- {name}" for name in self.server.deleted]

    async def go_on(self) -> list[str]:
        """What is written with the rows that were not all written yet."""
        self.server.applied.clear()
        assert self.memory.pending is not None
        await self.syncs.converge(*self._registry(), self.memory, self.memory.pending)
        return self.server.applied

    def _registry(self) -> tuple[Registry, TenantRegistrySpec]:
        found = self.context.store(self.context.rules.registry).get(PROD)
        assert isinstance(found, Registry)
        spec, _ = typed(found)
        assert spec is not None
        return found, spec
