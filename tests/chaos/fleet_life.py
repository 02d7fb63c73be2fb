"""The life of one TenantRegistry with its templates; the reference reads the same table in another namespace."""

import base64
from typing import Any

from steward.tenants import labels
from steward.testkit import AuditedCalls
from tests.chaos.environment import Environment
from tests.chaos.fleet_database import FleetDatabase
from tests.chaos.fleet_expectations import comparable_fleets, held_approval, held_problems, is_tracked
from tests.chaos.fleet_model import (
    AUTOSCALED,
    FIRST_TEMPLATE,
    PASSWORD_SECRET,
    REGISTRY,
    SECRET_MARK,
    FleetModel,
    Manifest,
)
from tests.chaos.namespace_api import NamespaceApi
from tests.chaos.oracles import orphans
from tests.chaos.snapshot import differences, object_name
from tests.chaos.status_truth import false_fleet_counts, stale_statuses
from tests.chaos.story import AnyAction, Approve, DatabaseFault, Delete, Edit, Meddle, Occupy, Recreate
from tests.chaos.waiting import eventually

CUSTOM = ("tenantregistries", "tenanttemplates", "tenants")
OBJECTS = (*CUSTOM, "configmaps", "secrets", "services", "deployments.apps")


class FleetLife:
    word = "tenants"

    def __init__(
        self, environment: Environment, namespaces: tuple[str, str], database: FleetDatabase
    ) -> None:
        self.namespaces = namespaces
        self._database = database
        self._api, self._reference = (NamespaceApi(environment.server, name) for name in namespaces)
        self._quiet_seconds = environment.quiet_seconds
        self._model = FleetModel()
        self._uids: dict[str, str] = {}
        self._exists = True
        self._occupied: set[str] = set()
        self._has_deleted_template = False
        self._deleted_by_user: set[str] = set()
        self._scaled: dict[str, tuple[str, int]] = {}

    async def begin(self) -> None:
        await self._api.create()
        await self._database.write(self._model.rows.values())
        await self._apply(self._api)

    async def perform(self, action: AnyAction) -> None:
        match action:
            case Edit():
                await self._edit(action)
            case Approve():
                await self._approve("tenantregistries", REGISTRY)
            case Delete() if self._exists:
                self._exists = False
                self._model.steady.clear()
                await self._api.delete("tenantregistries", REGISTRY)
            case Recreate() if not self._exists:
                await eventually(
                    self._remaining_registry, "the deleted registry to be gone", self._quiet_seconds
                )
                self._exists = True
                await self._apply(self._api)
            case Meddle():
                await self._meddle(action)
            case Occupy(key=uid):
                await self._occupy(f"{uid}-{FIRST_TEMPLATE}-config")
            case DatabaseFault(fault=fault):
                self._database.inject(fault)

    async def is_settled(self) -> bool:
        await self._note_uids()
        registry = await self._api.get("tenantregistries", REGISTRY)
        if registry is None or not self._exists:
            return self._exists == (registry is not None)
        return _is_complete(registry, self._model)

    async def end_faults(self) -> None:
        self._database.inject("")
        for name in self._occupied:
            await self._api.delete_unless(is_tracked, "configmaps", name)
        await self.perform(Edit("broken", "", False))

    async def make_reference(self) -> None:
        if not self._exists:
            return
        await self._reference.create()
        await self._apply(self._reference)
        await eventually(self._reference_problem, "the fresh fleet to be ready", self._quiet_seconds)

    async def differences(self) -> list[str]:
        if self._has_deleted_template:
            await self._finish_template_deletions()
        if not self._exists:
            return await self._remainders()
        live, reference = [await api.objects(*OBJECTS) for api in (self._api, self._reference)]
        held = held_problems(live, reference)
        return held + differences(*comparable_fleets(live, reference, self.namespaces))

    async def violations(self, calls: AuditedCalls) -> list[str]:
        objects = await self._api.objects(*OBJECTS, "replicasets", "pods")
        found = [*orphans(objects, is_tracked), *stale_statuses(objects)]
        if self._exists:
            found += [*false_fleet_counts(objects), *self._lost_tenants(objects)]
        return found + self._lost_scales(objects)

    def secret_texts(self) -> list[str]:
        return [SECRET_MARK, base64.b64encode(SECRET_MARK.encode()).decode(), self._database.password]

    async def close(self) -> None:
        for api in (self._api, self._reference):
            await api.release(*CUSTOM)
        self._database.close()

    async def _apply(self, api: NamespaceApi) -> None:
        password = base64.b64encode(self._database.password.encode()).decode()
        await api.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": PASSWORD_SECRET},
                "data": {"password": password},
            }
        )
        for manifest in self._model.manifests(self._database.source()):
            if self._exists or manifest["kind"] != "TenantRegistry":
                await api.apply(manifest)

    async def _edit(self, action: Edit) -> None:
        self._model.apply(action)
        if action.field == "row":
            await self._database.write(self._model.rows.values())
            return
        await self._apply(self._api)
        if action.field == "template" and action.key not in self._model.templates:
            self._has_deleted_template = True
            await self._api.delete("tenanttemplates", action.key)

    async def _approve(self, resource: str, name: str) -> None:
        """Approve the deletion that this registry or template holds, if it holds one."""
        held = await self._api.get(resource, name)
        if held is not None and (approval := held_approval(held)):
            patch = {"metadata": {"annotations": {labels.APPROVE_DELETION: approval}}}
            await self._api.patch(resource, name, patch)

    async def _finish_template_deletions(self) -> None:
        """Approve them, and apply again: an edit of a template that was terminating is lost with it."""
        for template in await self._api.objects("tenanttemplates"):
            if "deletionTimestamp" in template["metadata"]:
                await self._approve("tenanttemplates", template["metadata"]["name"])
        await self._apply(self._api)

    async def _remaining_registry(self) -> str:
        """The status of a registry that is terminating, after an approval of its deletion."""
        await self._approve("tenantregistries", REGISTRY)
        found = await self._api.get("tenantregistries", REGISTRY)
        return f"{found.get('status')}" if found else ""

    async def _remainders(self) -> list[str]:
        """What a deletion must not leave: everything that belonged to a Tenant."""
        if status := await self._remaining_registry():
            return [f"the deleted registry still exists: {status}"]
        left = await self._api.objects(*OBJECTS)
        return [f"{object_name(each)} is left behind" for each in left if is_tracked(each)]

    async def _meddle(self, action: Meddle) -> None:
        found = sorted(filter(is_tracked, await self._api.objects(action.resource)), key=object_name)
        if action.how == "strip-labels":
            # Without labels and without an owner an object is released: its Tenant rightly reports a conflict.
            found = [each for each in found if each["metadata"].get("ownerReferences")]
        if not found:
            return
        chosen = found[action.pick % len(found)]
        name = chosen["metadata"]["name"]
        match action.how:
            case "strip-labels":
                names = {labels.TENANT: None, labels.TENANT_NAMESPACE: None}
                await self._api.patch(action.resource, name, {"metadata": {"labels": names}})
            case "edit":
                await self._api.patch(action.resource, name, {"data": {"host": "edited"}})
            case "scale":
                await self._scale(chosen, 3 + action.pick)
            case how:
                self._deleted_by_user.add(name)
                await self._api.delete(action.resource, name, "background" if how == "delete" else how)

    async def _occupy(self, name: str) -> None:
        data = {"host": "of the user"}
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
        if await self._api.create_object(config_map):
            self._occupied.add(name)

    async def _scale(self, deployment: Manifest, replicas: int) -> None:
        """As an autoscaler does: of a Deployment whose template leaves its replicas to others."""
        name = deployment["metadata"]["name"]
        if name.endswith(AUTOSCALED):
            patch = {"spec": {"replicas": replicas}}
            await self._api.patch("deployments.apps", name, patch, manager="autoscaler")
            self._scaled[name] = deployment["metadata"]["uid"], replicas

    async def _note_uids(self) -> None:
        for tenant in await self._api.objects("tenants"):
            self._uids.setdefault(tenant["metadata"]["name"], tenant["metadata"]["uid"])

    async def _reference_problem(self) -> str:
        registry = await self._reference.get("tenantregistries", REGISTRY) or {}
        return "" if registry and _is_complete(registry, self._model) else f"{registry.get('status')}"

    def _lost_tenants(self, objects: list[Manifest]) -> list[str]:
        """Tenants that were deleted although their rows were active all the time."""
        live = {
            each["metadata"]["name"]: each["metadata"]["uid"] for each in objects if each["kind"] == "Tenant"
        }
        steady = {f"{uid}-{FIRST_TEMPLATE}" for uid in self._model.steady} - self._deleted_by_user
        return [
            f"Tenant/{name} was deleted although its row was active all the time"
            for name in sorted(steady & self._uids.keys())
            if live.get(name) != self._uids[name]
        ]

    def _lost_scales(self, objects: list[Manifest]) -> list[str]:
        """Replicas that an autoscaler set, and that the operator changed although the template ignores them."""
        live = {
            each["metadata"]["uid"]: each["spec"]["replicas"]
            for each in objects
            if each["kind"] == "Deployment"
        }
        return [
            f"Deployment/{name}: replicas {live[uid]} instead of {replicas}, which another manager set"
            for name, (uid, replicas) in self._scaled.items()
            if live.get(uid, replicas) != replicas
        ]


def _is_complete(registry: Manifest, model: FleetModel) -> bool:
    """Whether the registry has read these rows and every Tenant is ready."""
    status: dict[str, Any] = registry.get("status") or {}
    is_current = status.get("observedGeneration") == registry["metadata"]["generation"]
    desired = len(model.valid()) * len(model.templates)
    return is_current and status.get("desired") == desired and status.get("ready", 0) >= desired
