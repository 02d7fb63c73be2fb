"""Objects of every kind with a list in the template, and a database: foreign, created, and deleted.

So the operator uses every permission that it has on them.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.install.operators import TENANTS
from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.lists import LISTS, field_name
from steward.tenants.labels import TENANT as TENANT_LABEL
from steward.tenants.rendering.secret_payload import SecretPayload
from steward.testkit import Answer, FaultProxy, Hold, Match, Rule
from tests.support import definitions
from tests.support.identities import operator_kubeconfig, operator_token
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process_async
from tests.tenants.support.customers import Customers, World, sqlite_registry, until
from tests.tenants.support.fleet import (
    TENANT,
    Fleet,
    Manifest,
    config_map,
    deployment,
    fleets,
    resource,
    service,
)
from tests.tenants.support.manifests import resource as row_resource
from tests.tenants.support.manifests import template

LABELS = {"app": "every"}
POD = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}}
ONE_RUN = {"template": {**POD, "spec": {**POD["spec"], "restartPolicy": "Never"}}}
CELLS = {"cells": [{"name": "a", "zone": "z1"}]}
DATABASE = {
    "id": "database",
    "nameTemplate": "{{ .uid }}-database",
    "waitForReady": False,
    "spec": {"apiVersion": "multigres.com/v1alpha1", "kind": "MultigresCluster", "spec": CELLS},
}
OTHER = row_resource("other", nameTemplate="{{ .uid }}-other")


@pytest.fixture(scope="module")
def fleet(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    definitions.install_crds(control_plane, kubectl, MULTIGRES_KINDS)
    log: Path = tmp_path_factory.mktemp("operator") / "operator.log"
    with fleets(control_plane, kubectl, log, 1) as found:
        yield next(found)


def _manifests(namespace: str, name: str) -> dict[str, Manifest]:
    """One for each list, by the list's name."""
    selector = {"matchLabels": LABELS}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    backend = {"service": {"name": name, "port": {"number": 80}}}
    storage = {"requests": {"storage": "1Gi"}}

    def manifest(api_version: str, kind: str, **spec: Any) -> Manifest:
        return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}

    return {
        "serviceAccounts": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}},
        "deployments": deployment(name),
        "statefulSets": manifest("apps/v1", "StatefulSet", selector=selector, serviceName=name, template=POD),
        "daemonSets": manifest("apps/v1", "DaemonSet", selector=selector, template=POD),
        "services": service(name),
        "ingresses": manifest("networking.k8s.io/v1", "Ingress", defaultBackend=backend),
        "configMaps": config_map(name),
        "secrets": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "type": "Opaque"},
        "persistentVolumeClaims": manifest(
            "v1", "PersistentVolumeClaim", accessModes=["ReadWriteOnce"], resources=storage
        ),
        "jobs": manifest("batch/v1", "Job", **ONE_RUN),
        "cronJobs": manifest("batch/v1", "CronJob", schedule="0 0 1 1 *", jobTemplate={"spec": ONE_RUN}),
        "podDisruptionBudgets": manifest(
            "policy/v1", "PodDisruptionBudget", maxUnavailable=1, selector=selector
        ),
        "networkPolicies": manifest("networking.k8s.io/v1", "NetworkPolicy", podSelector={}),
        "horizontalPodAutoscalers": manifest(
            "autoscaling/v2", "HorizontalPodAutoscaler", scaleTargetRef=target, maxReplicas=2
        ),
        "namespaces": {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": f"{namespace}-{name}"},
        },
        "manifests": manifest("multigres.com/v1alpha1", "MultigresCluster", **CELLS),
    }


def _tenant(fleet: Fleet, name: str, manifests: dict[str, Manifest]) -> None:
    payload = SecretPayload().with_secret("secrets", {"key": "dmFsdWU="})
    values = {"secretName": f"{name}-values", "digest": payload.digest}
    meta = {"name": values["secretName"]}
    fleet.apply({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": payload.data})
    fleet.tenant(
        name, values=values, **{each: [resource(each, manifest)] for each, manifest in manifests.items()}
    )


def test_foreign_objects_of_every_kind_are_not_changed(fleet: Fleet) -> None:
    manifests = _manifests(fleet.namespace, "theirs")
    foreign = {"apiVersion": "v1", "kind": "List", "items": list(manifests.values())}
    fleet.kubectl("create", "-n", fleet.namespace, "-f", "-", document=foreign)

    _tenant(fleet, "hopeful", manifests)

    fleet.until(
        lambda: fleet.status("hopeful").get("conflictedResources") == len(LISTS), "all to be another's"
    )
    assert _managed_lists(fleet, manifests) == set()


def test_every_kind_is_created_and_deleted(fleet: Fleet) -> None:
    manifests = _manifests(fleet.namespace, "ours")
    assert list(manifests) == [field_name(attribute) for attribute, _ in LISTS]

    _tenant(fleet, "acme", manifests)
    fleet.until(lambda: _managed_lists(fleet, manifests) == set(manifests), "every object to be created")

    fleet.kubectl("delete", TENANT, "acme", "--wait=false", "-n", fleet.namespace)
    fleet.until_deleted(TENANT, "acme")
    fleet.until(lambda: _managed_lists(fleet, manifests) == set(), "every object to be deleted")


async def test_without_streaming_lists_a_rejected_write_is_read_back_and_a_slow_write_is_reported(
    control_plane: ControlPlane, fleet: Fleet, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    """The operator of `fleet` does not watch this namespace; the fixture has installed the CRDs of databases."""
    world = World(fleet.kubectl, namespace)
    await asyncio.to_thread(operator_kubeconfig, TENANTS, control_plane)
    token = await asyncio.to_thread(operator_token, TENANTS, fleet.kubectl)
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        proxy.add(Rule(Match(verb="watch", resource="multigresclusters"), Answer(400), count=1))
        proxy.add(Rule(Match(verb="patch", resource="controllerrevisions"), Answer(422), count=1))
        config = proxy.write_kubeconfig(tmp_path / "kubeconfig", token)
        customers.add("acme")
        await asyncio.to_thread(world.apply, sqlite_registry(), template(manifests=[DATABASE]))

        operator = OperatorProcess("tenants", config, namespace, tmp_path / "log")
        async with run_operator_process_async(operator, sqlite_root=str(tmp_path)):
            await asyncio.to_thread(until, lambda: world.get("multigrescluster", "acme-database"))
            proxy.add(Rule(Match(verb="patch", resource="tenants", subresource=""), Answer(422), count=1))
            await asyncio.to_thread(world.apply, template(manifests=[DATABASE], configMaps=[OTHER]))
            await asyncio.to_thread(until, lambda: world.get("configmap", "acme-other"))
            await _check_row_is_reported_while_its_tenant_is_written(proxy, world, customers)
            lists = {seen.call.resource for seen in proxy.calls(Match(verb="list"))}
            gets = {seen.call.resource for seen in proxy.calls(Match(verb="get"))}

    assert lists >= {"multigresclusters"}
    assert gets >= {"tenants", "controllerrevisions"}


async def _check_row_is_reported_while_its_tenant_is_written(
    proxy: FaultProxy, world: World, customers: Customers
) -> None:
    tenant = ("tenant", "bob-web-app")
    hold = proxy.add(Rule(Match(verb="patch", resource="tenants", name="bob-web-app"), Hold()))
    customers.add("bob")

    def status_with_both_rows() -> Any:
        status = world.status()
        return status if status.get("activeRows") == 2 else None

    status = await asyncio.to_thread(until, status_with_both_rows, world.status)
    # Once the write has failed, the status is written anyway, with the failure.
    reasons = {each["type"]: each["reason"] for each in status["conditions"]}
    assert reasons["Ready"] == "DatabaseConnected"
    assert await asyncio.to_thread(world.get, *tenant) is None
    proxy.remove(hold)
    await asyncio.to_thread(until, lambda: world.get(*tenant))


def _managed_lists(fleet: Fleet, manifests: dict[str, Manifest]) -> set[str]:
    """The lists whose object is managed and not terminating."""
    found = {
        name: fleet.get(manifest["kind"].lower(), manifest["metadata"]["name"])
        for name, manifest in manifests.items()
    }
    return {name for name, manifest in found.items() if manifest is not None and _is_managed(manifest)}


def _is_managed(found: Manifest) -> bool:
    metadata = found["metadata"]
    return "deletionTimestamp" not in metadata and TENANT_LABEL in (metadata.get("labels") or {})
