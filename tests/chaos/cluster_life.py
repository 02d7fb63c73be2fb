"""The life of one MultigresCluster; the reference is a cluster of the same name in another namespace."""

import base64

from steward.kube.objects.kinds import Key
from steward.multigres import names
from steward.testkit import AuditedCalls
from steward.testkit.fake_data_plane.faults import DataPlaneFault
from tests.chaos.audited_calls import deleted_claims
from tests.chaos.cluster_model import NAME, ClusterModel
from tests.chaos.cluster_objects import (
    MANAGED,
    comparable_cluster,
    is_current_and_ready,
    is_managed,
    without_gateway_readiness,
    without_kept_claims,
)
from tests.chaos.cluster_stories import EXTERNAL
from tests.chaos.environment import Environment
from tests.chaos.namespace_api import Manifest, NamespaceApi
from tests.chaos.oracles import orphans
from tests.chaos.snapshot import differences, object_name
from tests.chaos.status_truth import false_cluster_counts, stale_statuses
from tests.chaos.story import AnyAction, Delete, Edit, Meddle, Occupy, Recreate, TopologyFault
from tests.chaos.waiting import LifeFailedError, eventually

SETTINGS = {"default_graceful_shutdown_period": "1s"}
CHILDREN = ("multigresclusters", "cells", "tablegroups", "shards", "toposervers")
OBJECTS = (
    *CHILDREN,
    "statefulsets",
    "deployments",
    "services",
    "secrets",
    "configmaps",
    "poddisruptionbudgets.policy",
    "persistentvolumeclaims",
    "pods",
)
NAMESPACE = "namespace"
UNREACHABLE = "http://127.0.0.1:9"
"""A topology server that never answers: the port of the discard service, where nothing listens."""
COMPONENT = "app.kubernetes.io/component"


class ClusterLife:
    word = "multigres"

    def __init__(self, environment: Environment, namespaces: tuple[str, str], variant: str = "") -> None:
        self.namespaces = namespaces
        self._environment = environment
        self._api, self._reference = (NamespaceApi(environment.server, name) for name in namespaces)
        self._model = ClusterModel(topology_endpoint=UNREACHABLE if variant == EXTERNAL else "")
        self._exists = False
        self._last_cascade = ""
        self._occupied: set[str] = set()
        self._faulty: set[Key] = set()
        self._doomed_claims: set[str] = set()
        self._password = ""

    async def begin(self) -> None:
        await self._api.create()
        self._exists = True
        await self._apply(self._api)

    async def perform(self, action: AnyAction) -> None:
        match action:
            case Edit():
                self._model.apply(action)
                if self._exists:
                    await self._apply(self._api)
            case Delete(cascade=cascade):
                await self._delete(cascade)
            case Recreate() if not self._exists:
                await self._recreate()
            case Meddle():
                await self._meddle(action)
            case Occupy(key=zone):
                await self._occupy(names.gateway_service(NAME, zone))
            case TopologyFault(fault=fault):
                self._inject(fault)

    async def is_settled(self) -> bool:
        cluster = await self._api.get("multigresclusters", NAME)
        if not self._exists or cluster is None:
            return self._exists == (cluster is not None)
        await self._note_password()
        return is_current_and_ready(cluster)

    async def end_faults(self) -> None:
        for key in self._faulty:
            self._environment.data_plane.clear_faults(key)
        for name in self._occupied:
            await self._api.delete_unless(is_managed, "services", name)
        self._model.apply(Edit("updates", "", "Auto"))
        await self.perform(Edit("broken", "", False))

    async def make_reference(self) -> None:
        if not self._exists:
            return
        await self._reference.create()
        await self._apply(self._reference)
        if not self._model.can_be_ready:
            return
        await eventually(
            self._reference_problem, "the fresh cluster to be ready", self._environment.quiet_seconds
        )

    async def differences(self) -> list[str]:
        if not self._exists:
            return await self._remainders()
        live, reference = [
            comparable_cluster(await api.objects(*OBJECTS), api.namespace)
            for api in (self._api, self._reference)
        ]
        if self._model.gateway_failure:
            live, reference = without_gateway_readiness(live), without_gateway_readiness(reference)
        return differences(without_kept_claims(live, reference), reference)

    async def violations(self, calls: AuditedCalls) -> list[str]:
        await self._note_password()
        objects = await self._api.objects(*OBJECTS, "replicasets")
        found = [*orphans(objects, is_managed), *stale_statuses(objects)]
        if self._exists:
            found += false_cluster_counts(objects)
        if not self._model.ever_deletes_claims and (lost := deleted_claims(calls, self.namespaces[0])):
            found.append(f"volume claims are lost although every policy is Retain: {lost}")
        return found

    def secret_texts(self) -> list[str]:
        return [self._password, "PRIVATE KEY"]

    async def close(self) -> None:
        for api in (self._api, self._reference):
            await api.release(*CHILDREN)

    async def _apply(self, api: NamespaceApi) -> None:
        for manifest in self._model.manifests(api.namespace):
            await api.apply(manifest)

    async def _delete(self, cascade: str) -> None:
        if not self._exists:
            return
        self._doomed_claims = await self._claims_to_delete()
        self._exists, self._last_cascade = False, cascade
        if cascade == NAMESPACE:
            self._model.ever_deletes_claims = True
            await self._api.delete("namespaces", self._api.namespace)
        else:
            await self._api.delete("multigresclusters", NAME, cascade)

    async def _recreate(self) -> None:
        await eventually(
            self._remaining_cluster, "the deleted cluster to be gone", self._environment.quiet_seconds
        )
        if self._last_cascade == NAMESPACE:
            await self._api.create()
        self._exists = True
        await self._apply(self._api)

    async def _claims_to_delete(self) -> set[str]:
        """The claims in use, if the operator has carried out a policy that deletes them with the cluster."""
        if self._model.retention.get("whenDeleted") != "Delete" or not await self.is_settled():
            return set()
        volumes = [
            volume for pod in await self._api.objects("pods") for volume in pod["spec"].get("volumes", ())
        ]
        return {
            each["persistentVolumeClaim"]["claimName"] for each in volumes if "persistentVolumeClaim" in each
        }

    async def _remaining_cluster(self) -> str:
        """What is left of a deleted cluster: its status, or that its namespace exists."""
        found = await self._api.get("multigresclusters", NAME)
        if found is None and self._last_cascade == NAMESPACE:
            found = await self._api.get("namespaces", self._api.namespace)
        return f"{found['metadata'].get('finalizers')} {found.get('status')}" if found else ""

    async def _reference_problem(self) -> str:
        cluster = await self._reference.get("multigresclusters", NAME) or {}
        return "" if cluster and is_current_and_ready(cluster) else f"{cluster.get('status')}"

    async def _remainders(self) -> list[str]:
        """What a deletion must not leave: everything but volumes and the password that they need."""
        if status := await self._remaining_cluster():
            return [f"the deleted cluster still exists: {status}"]
        if self._last_cascade == "orphan":
            return []
        left = [each for each in await self._api.objects(*OBJECTS) if is_managed(each)]
        return [f"{object_name(each)} is left behind" for each in left if not self._may_remain(each)]

    def _may_remain(self, each: Manifest) -> bool:
        name = each["metadata"]["name"]
        if each["kind"] == "PersistentVolumeClaim":
            return name not in self._doomed_claims
        return object_name(each) == f"Secret/{names.password_secret(NAME)}"

    async def _note_password(self) -> None:
        found = await self._api.get("secrets", names.password_secret(NAME))
        password = base64.b64decode(found["data"]["password"]).decode() if found else ""
        # Without volumes there is nothing that the old password opens.
        is_kept = not self._model.ever_deletes_claims
        if is_kept and self._password and password and password != self._password:
            raise LifeFailedError("the password of the superuser has changed")
        self._password = password or self._password

    async def _meddle(self, action: Meddle) -> None:
        objects = sorted(filter(is_managed, await self._api.objects(action.resource)), key=object_name)
        if not objects:
            return
        name = objects[action.pick % len(objects)]["metadata"]["name"]
        match action.how:
            case "strip-labels":
                await self._api.patch(action.resource, name, {"metadata": {"labels": {MANAGED: None}}})
            case "scale":
                await self._api.patch(action.resource, name, {"spec": {"replicas": action.pick % 4}})
            case "edit":
                await self._api.patch(action.resource, name, {"metadata": {"labels": {COMPONENT: "edited"}}})
            case how:
                await self._api.delete(action.resource, name, "background" if how == "delete" else how)

    async def _occupy(self, name: str) -> None:
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {"ports": [{"port": 1}]},
        }
        if await self._api.create_object(service):
            self._occupied.add(name)

    def _inject(self, fault: str) -> None:
        key = Key(self.namespaces[0], names.global_topo(NAME))
        self._faulty.add(key)
        self._environment.data_plane.inject_faults(key, *([DataPlaneFault(fault)] if fault else []))
