"""Options of a resource on a real control plane: ignoreFields, patchStrategy, readyWhen and others."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.rendering.secret_payload import SecretPayload
from tests.support import definitions
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import TENANT, Fleet, config_map, deployment, fleets, resource, service

pytestmark = pytest.mark.timeout(1200)
COUNT = 12


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


def managers_of(found: Any, field: str) -> list[str]:
    """The managers that own a field of a spec."""
    entries = found["metadata"]["managedFields"]
    return [each["manager"] for each in entries if f"f:{field}" in (each["fieldsV1"].get("f:spec") or {})]


def sized(manifest: dict[str, Any], *sizes: str) -> dict[str, Any]:
    containers = manifest["spec"]["template"]["spec"]["containers"]
    for container, size in zip(containers, sizes, strict=True):
        container["resources"] = {"requests": {"memory": size}}
    return manifest


def sizes_of(found: Any) -> list[str]:
    containers = found["spec"]["template"]["spec"]["containers"]
    return [each["resources"]["requests"]["memory"] for each in containers]


def test_ignored_fields_are_set_once_and_then_left_to_others(fleet: Fleet) -> None:
    paths = ["$.spec.replicas", "$.spec.template.spec.containers[*].resources", "$.spec.nothing.there"]

    def app(image: str, replicas: int, *sizes: str) -> dict[str, Any]:
        return resource("app", sized(deployment("app", replicas, image), *sizes), ignoreFields=paths)

    fleet.tenant(deployments=[app("app:1", 2, "16Mi", "32Mi")])
    fleet.until_ready()
    found = fleet.get("deployment", "app")
    assert (found["spec"]["replicas"], sizes_of(found)) == (2, ["16Mi", "32Mi"])
    assert managers_of(found, "replicas") == ["tenant-operator-seed"]
    seed = next(
        each for each in found["metadata"]["managedFields"] if each["manager"] == "tenant-operator-seed"
    )
    assert "f:selector" not in seed["fieldsV1"]["f:spec"]
    fleet.kubectl("scale", "deployment", "app", "--replicas=3", "-n", fleet.namespace)
    fleet.tenant(deployments=[app("app:2", 1, "1Mi", "1Mi")])
    fleet.until_ready()
    found = fleet.get("deployment", "app")
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "app:2"
    assert (found["spec"]["replicas"], sizes_of(found)) == (3, ["16Mi", "32Mi"])


def test_fields_that_are_ignored_later_keep_their_live_values(fleet: Fleet) -> None:
    fleet.tenant(deployments=[resource("app", deployment("app", 3))])
    fleet.until_ready()
    fleet.tenant(deployments=[resource("app", deployment("app", 1), ignoreFields=["$.spec.replicas"])])
    fleet.until_ready()
    found = fleet.get("deployment", "app")
    assert found["spec"]["replicas"] == 3
    assert managers_of(found, "replicas") == ["tenant-operator-seed"]


def test_merge_adds_fields_replace_removes_others_and_apply_keeps_foreign_fields(fleet: Fleet) -> None:
    def lists(version: str) -> list[dict[str, Any]]:
        return [
            resource(strategy, config_map(strategy, v=version), patchStrategy=strategy)
            for strategy in ("apply", "merge", "replace")
        ]

    fleet.tenant(configMaps=lists("1"))
    fleet.until_ready()
    for name in ("apply", "merge", "replace"):
        patch = '{"data": {"theirs": "x"}}'
        fleet.kubectl("patch", "configmap", name, "--type=merge", "-p", patch, "-n", fleet.namespace)
    fleet.tenant(configMaps=lists("2"))
    fleet.until_ready()
    assert fleet.get("configmap", "apply")["data"] == {"v": "2", "theirs": "x"}
    assert fleet.get("configmap", "merge")["data"] == {"v": "2", "theirs": "x"}
    assert fleet.get("configmap", "replace")["data"] == {"v": "2"}
    version = fleet.get("configmap", "replace")["metadata"]["resourceVersion"]
    fleet.kubectl("delete", "configmap", "apply", "-n", fleet.namespace)
    fleet.until(lambda: fleet.get("configmap", "apply"), "the next reconcile of the Tenant")
    assert fleet.get("configmap", "replace")["metadata"]["resourceVersion"] == version


def ports_of(fleet: Fleet, name: str) -> list[int]:
    return [each["port"] for each in fleet.get("service", name)["spec"]["ports"]]


def test_a_port_that_was_edited_by_hand_is_reverted_by_every_strategy(fleet: Fleet) -> None:
    strategies = ("apply", "merge", "replace")
    fleet.tenant(services=[resource(each, service(each, 80), patchStrategy=each) for each in strategies])
    fleet.until_ready()
    for name in strategies:
        patch = '[{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]'
        fleet.kubectl("patch", "service", name, "--type=json", "-p", patch, "-n", fleet.namespace)
    for name in strategies:
        fleet.until(lambda name=name: ports_of(fleet, name) == [80], f"the port of {name} to be put back")
    fleet.until_ready()


def test_a_dependent_waits_is_skipped_after_a_timeout_and_recovers(fleet: Fleet) -> None:
    slow = {"readyWhen": '{{ eq .data.state "up" }}', "timeoutSeconds": 3}
    fleet.tenant(
        configMaps=[
            resource("slow", config_map("slow", state="down"), ignoreFields=["$.data.state"], **slow),
            resource("after", config_map("after"), dependIds=["slow"]),
            resource("anyway", config_map("anyway"), dependIds=["slow"], skipOnDependencyFailure=False),
            resource("last", config_map("last"), dependIds=["after"]),
        ]
    )
    degraded = fleet.until_reason("Degraded", "ResourceFailures")
    assert "slow: not ready within 3 seconds" in degraded["message"]
    fleet.until(lambda: fleet.status().get("skippedResources") == 2, "two to be skipped")
    assert fleet.status()["skippedResourceIds"] == ["after", "last"]
    fleet.until(lambda: fleet.get("configmap", "anyway"), "what does not skip")
    assert fleet.get("configmap", "after") is None
    assert "slow" in fleet.until_event("ReadinessTimeout")["note"]
    fleet.until_event("DependencySkipped")
    patch = '{"data": {"state": "up"}}'
    fleet.kubectl("patch", "configmap", "slow", "--type=merge", "-p", patch, "-n", fleet.namespace)
    status = fleet.until_ready()
    assert (status["readyResources"], status["skippedResources"]) == (4, 0)


def test_a_render_failure_changes_no_object(fleet: Fleet) -> None:
    fleet.tenant(configMaps=[resource("config", config_map("config", v="1"))])
    fleet.until_ready()
    failure = {"resource": "config", "field": "spec.data.v", "line": 1, "message": 'no entry for key "plan"'}
    fleet.tenant(renderFailure=failure)
    degraded = fleet.until_reason("Degraded", "TemplateRenderError")
    assert "'config', spec.data.v: no entry for key" in degraded["message"]
    assert fleet.get("configmap", "config")["data"] == {"v": "1"}
    assert fleet.status()["appliedResources"] == [f"ConfigMap/{fleet.namespace}/config@config"]
    fleet.until_event("TemplateRenderError")


def test_a_dependency_cycle_is_reported_with_its_path(fleet: Fleet) -> None:
    fleet.tenant(
        configMaps=[
            resource("A", config_map("a"), dependIds=["B"]),
            resource("B", config_map("b"), dependIds=["A"]),
        ]
    )
    fleet.until_reason("Degraded", "DependencyCycle")
    assert fleet.until_event("DependencyCycle")["note"] == "Dependency cycle detected: A -> B -> A"
    assert fleet.get("configmap", "a") is None


def job(command: str, **annotations: str) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "job", "image": "job:1", "command": [command]}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "annotations": annotations},
        "spec": {"template": {"spec": pod}},
    }


def test_an_immutable_field_is_reported_or_the_object_recreated(fleet: Fleet) -> None:
    fleet.tenant(jobs=[resource("job", job("one"), waitForReady=False)])
    fleet.until_ready()
    uid = fleet.get("job", "job")["metadata"]["uid"]
    fleet.tenant(jobs=[resource("job", job("two"), waitForReady=False)])
    degraded = fleet.until_reason("Degraded", "ResourceFailures")
    assert "spec.template cannot change on an existing object" in degraded["message"]
    assert fleet.get("job", "job")["metadata"]["uid"] == uid
    recreate = {"kubernetes-tenants.org/recreate": "true"}
    fleet.tenant(jobs=[resource("job", job("two", **recreate), waitForReady=False)])
    fleet.until_ready()
    assert fleet.get("job", "job")["metadata"]["uid"] != uid


def test_secrets_come_from_the_values_secret_of_the_tenant(fleet: Fleet) -> None:
    data = {"password": base64.b64encode(b"hunter2").decode()}
    payload = SecretPayload().with_secret("login", data)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}, "type": "Opaque"}
    values = {"secretName": "acme-values", "digest": payload.digest}
    fleet.tenant(secrets=[resource("login", secret)], values=values)
    fleet.until(lambda: fleet.status().get("appliedResources"), "the Tenant to be reconciled")
    assert fleet.get("secret", "login") is None
    fleet.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "acme-values"}, "data": payload.data}
    )
    fleet.until_ready()
    assert fleet.get("secret", "login")["data"] == data


def test_objects_of_the_go_operator_are_taken_over(fleet: Fleet) -> None:
    spec = {"uid": "acme", "templateRef": "web-app"}
    tenant = {
        "apiVersion": "operator.kubernetes-tenants.org/v1",
        "kind": "Tenant",
        "metadata": {"name": "acme", "namespace": fleet.namespace},
        "spec": spec,
    }
    fleet.apply(tenant, "registry")
    owner = {
        "apiVersion": tenant["apiVersion"],
        "kind": "Tenant",
        "name": "acme",
        "uid": fleet.get(TENANT, "acme")["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    old = service("web", 81)
    old["metadata"] = {"name": "web", "namespace": fleet.namespace, "ownerReferences": [owner]}
    fleet.apply(old, "tenant-operator")
    uid = fleet.get("service", "web")["metadata"]["uid"]
    fleet.tenant(services=[resource("web", service("web", 80))])
    fleet.until_ready()
    found = fleet.get("service", "web")
    assert found["metadata"]["uid"] == uid
    assert [each["port"] for each in found["spec"]["ports"]] == [80]
    assert found["metadata"]["labels"]["kubernetes-tenants.org/tenant"] == "acme"


def test_a_custom_kind_is_watched_from_its_first_use(
    fleet: Fleet, control_plane: ControlPlane, kubectl: Kubectl
) -> None:
    definitions.install_crds(control_plane, kubectl, MULTIGRES_KINDS)
    database = {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "inner"},
        "spec": {"cells": [{"name": "a", "zone": "z1"}]},
    }
    fleet.tenant(manifests=[resource("inner", database, waitForReady=False)])
    fleet.until_ready()
    uid = fleet.get("multigrescluster", "inner")["metadata"]["uid"]
    fleet.kubectl("delete", "multigrescluster", "inner", "-n", fleet.namespace, "--wait=false")
    fleet.until(
        lambda: (
            (fleet.get("multigrescluster", "inner") or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid
        ),
        "the custom object to be back",
    )


def test_a_claim_that_waits_for_its_first_pod_does_not_block_that_pod(fleet: Fleet) -> None:
    name = f"late-{fleet.namespace}"
    fleet.apply(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": "kwok.x-k8s.io/volume",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    )
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {**storage, "storageClassName": name},
    }
    app = deployment("app")
    pods = app["spec"]["template"]["spec"]
    pods["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    pods["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]

    fleet.tenant(
        persistentVolumeClaims=[resource("data", claim)],
        configMaps=[resource("between", config_map("between"), dependIds=["data"])],
        deployments=[resource("app", app, dependIds=["between"])],
    )

    fleet.until_ready()
    assert fleet.get("persistentvolumeclaim", "data")["status"]["phase"] == "Bound"
    fleet.kubectl("delete", "storageclass", name)
