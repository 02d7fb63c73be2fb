"""The Tenant controller on a real control plane: objects are created in order, restored, and deleted by policy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import (
    TENANT,
    Fleet,
    config_map,
    deployment,
    fleets,
    namespace_manifest,
    resource,
    service,
)
from tests.tenants.support.impersonation import allow_impersonation

pytestmark = pytest.mark.timeout(1200)
COUNT = 10


@pytest.fixture(scope="module")
def free_fleets(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Iterator[Fleet]]:
    log: Path = tmp_path_factory.mktemp("operator") / "operator.log"
    with fleets(control_plane, kubectl, log, COUNT) as found:
        yield found


@pytest.fixture
def fleet(free_fleets: Iterator[Fleet]) -> Fleet:
    return next(free_fleets)


def test_the_objects_of_a_tenant_are_created_and_reported(fleet: Fleet) -> None:
    fleet.tenant(
        configMaps=[resource("config", config_map("acme-config", host="acme.example"))],
        deployments=[resource("app", deployment("acme-app"), dependIds=["config"])],
        services=[resource("web", service("acme-web"), dependIds=["app"])],
    )
    status = fleet.until_ready()
    assert (status["desiredResources"], status["readyResources"], status["failedResources"]) == (3, 3, 0)
    assert sorted(status["appliedResources"]) == [
        f"ConfigMap/{fleet.namespace}/acme-config@config",
        f"Deployment/{fleet.namespace}/acme-app@app",
        f"Service/{fleet.namespace}/acme-web@web",
    ]
    found = fleet.get("configmap", "acme-config")
    assert {each["uid"] for each in status["applied"]} >= {found["metadata"]["uid"]}
    assert found["metadata"]["labels"]["kubernetes-tenants.org/tenant"] == "acme"
    assert found["metadata"]["labels"]["kubernetes-tenants.org/tenant-namespace"] == fleet.namespace
    assert [owner["name"] for owner in found["metadata"]["ownerReferences"]] == ["acme"]
    finalizers = fleet.get(TENANT, "acme")["metadata"]["finalizers"]
    assert finalizers == ["tenant.operator.kubernetes-tenants.org/finalizer"]
    assert "all 3 resources" in fleet.until_event("TenantReady")["note"]


def test_a_foreign_object_is_not_changed_and_taken_over_only_by_force(fleet: Fleet) -> None:
    fleet.apply(config_map("acme-stuck", owner="them"), "them")
    fleet.apply(config_map("acme-forced", owner="them"), "them")
    fleet.tenant(
        configMaps=[
            resource("stuck", config_map("acme-stuck", owner="us")),
            resource("forced", config_map("acme-forced", owner="us"), conflictPolicy="Force"),
            resource("free", config_map("acme-free", owner="us")),
        ]
    )
    degraded = fleet.until_reason("Degraded", "ResourceConflicts")
    assert degraded["status"] == "True"
    assert "acme-stuck exists with different owner" in degraded["message"]
    assert fleet.get("configmap", "acme-stuck")["data"] == {"owner": "them"}
    assert fleet.get("configmap", "acme-forced")["data"] == {"owner": "us"}
    assert fleet.get("configmap", "acme-free")["data"] == {"owner": "us"}
    status = fleet.status()
    assert (status["conflictedResources"], status["failedResources"], status["readyResources"]) == (1, 1, 2)
    assert fleet.until_event("ResourceConflict")["note"].endswith("or set conflictPolicy: Force")
    assert "acme-forced" in fleet.until_event("ForceApplied")["note"]
    fleet.kubectl("delete", "configmap", "acme-stuck", "-n", fleet.namespace)
    fleet.until_ready()
    assert fleet.condition("Degraded")["status"] == "False"
    assert fleet.condition("Conflicted")["status"] == "False"


def test_of_two_tenants_with_the_same_object_the_first_keeps_it(fleet: Fleet) -> None:
    fleet.tenant("first", configMaps=[resource("shared", config_map("shared", of="first"))])
    fleet.until_ready("first")
    fleet.tenant("second", configMaps=[resource("shared", config_map("shared", of="second"))])
    found = fleet.until_reason("Conflicted", "ResourceConflict", "second")
    assert f"belongs to Tenant {fleet.namespace}/first" in found["message"]
    assert fleet.get("configmap", "shared")["data"] == {"of": "first"}


def test_manual_edits_are_reverted_and_a_manager_that_keeps_editing_is_named(fleet: Fleet) -> None:
    fleet.tenant(
        deployments=[resource("app", deployment("acme-app", replicas=2))],
        services=[resource("web", service("acme-web"))],
        configMaps=[resource("config", config_map("acme-config", host="ours"))],
    )
    fleet.until_ready()
    where = ("-n", fleet.namespace)
    fleet.kubectl("scale", "deployment", "acme-app", "--replicas=5", *where)
    fleet.until(lambda: fleet.get("deployment", "acme-app")["spec"]["replicas"] == 2, "two replicas again")
    fleet.kubectl("delete", "configmap", "acme-config", *where)
    fleet.until(lambda: fleet.get("configmap", "acme-config"), "the ConfigMap to be back")
    for put_back in (f"Deployment {fleet.namespace}/acme-app", f"ConfigMap {fleet.namespace}/acme-config"):
        fleet.until(
            lambda put_back=put_back: any(put_back in each["note"] for each in fleet.events("DriftReverted")),
            f"an event that names {put_back}",
        )
    port = '[{"op": "replace", "path": "/spec/ports/0/port", "value": 8080}]'
    fleet.kubectl("patch", "service", "acme-web", "--type=json", "-p", port, *where)
    ports = [80]
    fleet.until(
        lambda: [each["port"] for each in fleet.get("service", "acme-web")["spec"]["ports"]] == ports,
        "the port to be back, alone",
    )
    fleet.until_ready()

    def scaled_again() -> bool:
        fleet.kubectl("scale", "deployment", "acme-app", "--replicas=7", *where)
        return fleet.condition("Conflicted").get("status") == "True"

    fleet.until(scaled_again, "a conflict with the manager that keeps taking a field")
    message = fleet.condition("Conflicted")["message"]
    assert "kubectl takes .spec.replicas again and again" in message
    assert "ignoreFields" in message


def test_objects_removed_from_the_template_are_deleted_or_orphaned_and_adopted_again(fleet: Fleet) -> None:
    kept = resource("kept", config_map("acme-kept", version="1"), deletionPolicy="Retain")
    gone = resource("gone", config_map("acme-gone"))
    moved = resource("moved", config_map("acme-moved"))
    base = resource("base", config_map("acme-base"))
    fleet.tenant(configMaps=[base, kept, gone, moved])
    fleet.until_ready()
    uid = fleet.get("configmap", "acme-moved")["metadata"]["uid"]
    assert "ownerReferences" not in fleet.get("configmap", "acme-kept")["metadata"]
    fleet.tenant(configMaps=[base, {**moved, "id": "renamed"}])
    fleet.until_deleted("configmap", "acme-gone")
    fleet.until_ready()
    metadata = fleet.get("configmap", "acme-kept")["metadata"]
    assert metadata["labels"] == {"kubernetes-tenants.org/orphaned": "true"}
    assert metadata["annotations"]["kubernetes-tenants.org/orphaned-reason"] == "RemovedFromTemplate"
    assert "kubernetes-tenants.org/orphaned-at" in metadata["annotations"]
    assert fleet.get("configmap", "acme-moved")["metadata"]["uid"] == uid
    fleet.tenant(
        configMaps=[base, resource("kept", config_map("acme-kept", version="2"), deletionPolicy="Retain")]
    )
    fleet.until(lambda: fleet.get("configmap", "acme-kept")["data"] == {"version": "2"}, "re-adoption")
    fleet.until_ready()
    metadata = fleet.get("configmap", "acme-kept")["metadata"]
    assert metadata["labels"]["kubernetes-tenants.org/tenant"] == "acme"
    assert "kubernetes-tenants.org/orphaned" not in metadata["labels"]
    assert "kubernetes-tenants.org/orphaned-at" not in metadata["annotations"]


def test_an_object_created_once_is_never_changed_again(fleet: Fleet) -> None:
    fleet.tenant(configMaps=[resource("once", config_map("acme-once", v="1"), creationPolicy="Once")])
    fleet.until_ready()
    fleet.tenant(configMaps=[resource("once", config_map("acme-once", v="2"), creationPolicy="Once")])
    fleet.until_ready()
    found = fleet.get("configmap", "acme-once")
    assert found["data"] == {"v": "1"}
    assert found["metadata"]["annotations"]["kubernetes-tenants.org/created-once"] == "true"


@pytest.fixture
def granted(kubectl: Kubectl, fleet: Fleet) -> Iterator[str]:
    """A role that lets the operator manage PriorityClasses, as needed for every kind without a list in the template."""
    name = f"{fleet.namespace}-priorities"
    verbs = "get,list,watch,create,patch,delete"
    resources = "--resource=priorityclasses.scheduling.k8s.io"
    kubectl("create", "clusterrole", name, f"--verb={verbs}", resources)
    kubectl("label", "clusterrole", name, "kubernetes-tenants.org/aggregate-to-tenant-operator=true")
    yield name
    kubectl("delete", "clusterrole", name)


@pytest.fixture
def owner(kubectl: Kubectl, fleet: Fleet) -> Iterator[str]:
    """A service account with all rights: kinds outside namespaces need one."""
    where = ("-n", fleet.namespace)
    kubectl("create", "serviceaccount", "owner", *where)
    allow_impersonation(kubectl, fleet.namespace, "owner")
    binding, account = f"{fleet.namespace}-owner", f"--serviceaccount={fleet.namespace}:owner"
    kubectl("create", "clusterrolebinding", binding, "--clusterrole=cluster-admin", account)
    yield "owner"
    kubectl("delete", "clusterrolebinding", binding)


def test_objects_in_other_namespaces_and_cluster_scoped_objects_are_deleted(
    fleet: Fleet, granted: str, owner: str
) -> None:
    other = f"{fleet.namespace}-other"
    fleet.tenant(
        serviceAccountName=owner,
        namespaces=[resource("space", namespace_manifest(other))],
        configMaps=[
            resource("there", config_map("there", other), dependIds=["space"]),
            resource("stays", config_map("stays"), deletionPolicy="Retain"),
        ],
        manifests=[
            resource(
                "priority",
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": other},
                    "value": 7,
                },
            )
        ],
    )
    fleet.until_ready()
    assert "ownerReferences" not in fleet.get("configmap", "there", other)["metadata"]
    assert f"PriorityClass//{other}@priority" in fleet.status()["appliedResources"]
    fleet.kubectl("delete", "configmap", "there", "-n", other)
    fleet.until(lambda: fleet.get("configmap", "there", other), "drift in another namespace to be reverted")
    fleet.kubectl("delete", TENANT, "acme", "-n", fleet.namespace, "--wait=false")
    fleet.until_deleted(TENANT, "acme")
    fleet.until_deleted("priorityclass", other)
    fleet.until_deleted("namespace", other)
    metadata = fleet.get("configmap", "stays")["metadata"]
    assert metadata["annotations"]["kubernetes-tenants.org/orphaned-reason"] == "TenantDeleted"


def test_a_field_with_an_earlier_owner_is_not_taken(fleet: Fleet) -> None:
    fleet.tenant(configMaps=[resource("config", config_map("config", ours="1"))])
    fleet.until_ready()
    patch = '{"data": {"mode": "theirs"}}'
    where = ("-n", fleet.namespace)
    fleet.kubectl("patch", "configmap", "config", "--field-manager=them", "--type=merge", "-p", patch, *where)
    fleet.tenant(configMaps=[resource("config", config_map("config", ours="1", mode="ours"))])
    message = fleet.until_reason("Conflicted", "ResourceConflict")["message"]
    assert ".data.mode belongs to them" in message
    assert fleet.get("configmap", "config")["data"]["mode"] == "theirs"


def test_objects_are_deleted_in_reverse_order_level_by_level(fleet: Fleet) -> None:
    held = config_map("dependent")
    held["metadata"]["finalizers"] = ["example.org/hold"]
    fleet.tenant(
        configMaps=[
            resource("base", config_map("base")),
            resource("dependent", held, dependIds=["base"]),
        ]
    )
    fleet.until_ready()
    where = ("-n", fleet.namespace)
    fleet.kubectl("delete", TENANT, "acme", "--wait=false", *where)
    fleet.until(
        lambda: "deletionTimestamp" in fleet.get("configmap", "dependent")["metadata"],
        "the dependent to be deleted",
    )
    fleet.until_reason("Ready", "TenantDeleting")
    assert "deletionTimestamp" not in fleet.get("configmap", "base")["metadata"]
    release = '{"metadata": {"finalizers": null}}'
    fleet.kubectl("patch", "configmap", "dependent", "--type=merge", "-p", release, *where)
    fleet.until_deleted(TENANT, "acme")
    fleet.until_deleted("configmap", "base")
    fleet.until_event("TenantDeleted")
