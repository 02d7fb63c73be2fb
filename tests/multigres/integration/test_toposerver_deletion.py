"""A topology server on a real control plane: it does not go while others stand on it, unless somebody insists."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.names import ShardPath
from tests.multigres.conftest import running_operator
from tests.multigres.integration.test_operator import Clusters, eventually
from tests.multigres.support.scraping import free_port, sample
from tests.support.kubectl import Kubectl

API = "multigres.com/v1alpha1"
TOPO = {"address": "my-etcd:2379", "rootPath": "/multigres/global", "implementation": "etcd"}


class Servers(Clusters):
    """A topology server and those who stand on it, made by hand."""

    def make(self, kind: str, name: str, /, **spec: Any) -> None:
        metadata = {"name": name, "namespace": self.namespace}
        self.apply({"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec})

    def server(self, name: str = "my-etcd") -> None:
        self.make("TopoServer", name, replicas=1)
        eventually(lambda: self.is_held("toposerver", name), "the server to be held")

    def gateway(self, name: str, replicas: int = 1, pods: Mapping[str, str] | None = None) -> None:
        self.make(
            "Cell",
            name,
            name=name,
            globalTopoServer=TOPO,
            topoServerRef={"name": "my-etcd"},
            multiGateway={"replicas": replicas, "podAnnotations": dict(pods or {})},
        )
        eventually(lambda: self.is_held("cell", name), "the cell to be held")

    def shard(self, orchestrators: Mapping[str, str]) -> str:
        """Named as those of a cluster are: by its name the pods find it."""
        path = ShardPath("mine", "postgres", "default", "0-inf")
        name = names.shard(path)
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {"multigres.com/cluster": path.cluster},
        }
        spec = {
            "databaseName": path.database,
            "tableGroupName": path.table_group,
            "shardName": path.shard,
            "globalTopoServer": TOPO,
            "multiorch": {"cells": ["z1"], "replicas": 1, "podAnnotations": dict(orchestrators)},
            "pools": {"main": {"cells": ["z1"], "replicasPerCell": 1}},
        }
        self.apply({"apiVersion": API, "kind": "Shard", "metadata": metadata, "spec": spec})
        eventually(lambda: self.is_held("shard", name), "the shard to be held")
        return name

    def is_held(self, kind: str, name: str) -> bool:
        found = self.get(kind, name)
        return found is not None and "multigres.com/cleanup" in found["metadata"].get("finalizers", [])

    def delete(self, kind: str, name: str) -> None:
        self.kubectl("delete", kind, name, "-n", self.namespace, "--wait=false")

    def annotate(self, kind: str, name: str, annotation: str) -> None:
        self.kubectl("annotate", kind, name, "-n", self.namespace, annotation)

    def condition(self, type_: str, kind: str = "toposerver", name: str = "my-etcd") -> Any:
        found = self.get(kind, name) or {}
        known = (found.get("status") or {}).get("conditions", [])
        return next((c for c in known if c["type"] == type_), None)

    def wait_blocked(self, message: str) -> Any:
        def blocked() -> Any:
            found = self.condition("DeletionBlocked")
            return found if found is not None and message in found["message"] else None

        return eventually(blocked, f"the deletion to be blocked: {message}")

    def wait_gone(self, kind: str, name: str) -> None:
        eventually(lambda: self.get(kind, name) is None, f"{kind} {name} to go")

    def events(self, reason: str) -> list[str]:
        found = self.kubectl.json("get", "events.events.k8s.io", "-n", self.namespace)["items"]
        return [event["note"] for event in found if event["reason"] == reason]

    def wait_event(self, reason: str, text: str) -> None:
        eventually(lambda: any(text in note for note in self.events(reason)), f"event {reason}: {text}")


@pytest.fixture
def scraped() -> dict[str, str]:
    return {"metrics_bind_address": f"127.0.0.1:{free_port()}", "metrics_secure": "false"}


@pytest.fixture
def hasty_operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path, scraped: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Grace of a second: these tests are about what happens, not about how long it takes."""
    settings = {"default_graceful_shutdown_period": "1s", **scraped}
    with running_operator(control_plane, namespace, tmp_path / "operator.log", **settings) as process:
        yield process


@pytest.fixture
def servers(hasty_operator: object, kubectl: Kubectl, namespace: str) -> Servers:
    return Servers(kubectl, namespace)


def test_a_server_stays_until_the_last_of_its_dependents_is_gone(
    servers: Servers, scraped: dict[str, str]
) -> None:
    servers.server()
    servers.gateway("my-gateway")
    servers.gateway("my-other")
    servers.delete("toposerver", "my-etcd")
    blocked = servers.wait_blocked("Cannot delete: 2 components depend on this etcd (my-gateway, my-other)")
    assert (blocked["status"], blocked["reason"]) == ("True", "DependentComponentsExist")
    safe = servers.condition("SafeToDelete")
    assert (safe["status"], safe["reason"]) == ("False", "HasDependents")
    assert safe["message"] == "Remove or update dependent components first"
    assert servers.get("statefulset", "my-etcd")["spec"]["replicas"] == 1
    servers.wait_event("DeletionBlocked", "Cannot delete: 2 components depend on this etcd")
    servers.delete("cell", "my-other")
    servers.wait_blocked("Cannot delete: 1 components depend on this etcd (my-gateway)")
    servers.delete("cell", "my-gateway")
    servers.wait_gone("toposerver", "my-etcd")
    servers.wait_event("SafeToDelete", "No dependent components found, safe to delete")
    servers.wait_event("ShutdownStarted", "Graceful shutdown started, waiting 1s")
    servers.wait_event("ShutdownComplete", "Graceful shutdown complete, proceeding with deletion")
    eventually(lambda: servers.get("statefulset", "my-etcd") is None, "etcd to go")
    address = scraped["metrics_bind_address"]
    of_it = {"kind": "TopoServer", "namespace": servers.namespace}
    # A write that has to be repeated is counted again.
    assert sample(address, "multigres_deletion_blocked_total", **of_it) >= 1
    for kind, ended in (("Cell", 2), ("TopoServer", 1)):
        assert sample(address, "multigres_graceful_shutdown_duration_seconds_count", kind=kind) >= ended


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        ("multigres.com/deletion-protection=disabled", "ProtectionOff"),
        ("multigres.com/force-delete=true", "ForceDeleted"),
    ],
)
def test_a_word_on_the_server_lets_it_go_and_says_what_was_skipped(
    servers: Servers, annotation: str, reason: str
) -> None:
    servers.server()
    servers.gateway("my-gateway")
    servers.delete("toposerver", "my-etcd")
    servers.wait_blocked("1 components")
    servers.annotate("toposerver", "my-etcd", annotation)
    servers.wait_gone("toposerver", "my-etcd")
    servers.wait_event(reason, "Cell my-gateway")
    assert servers.get("cell", "my-gateway")["metadata"].get("deletionTimestamp") is None


def test_a_server_and_its_dependents_deleted_at_once_all_go(servers: Servers) -> None:
    servers.server()
    servers.gateway("my-gateway")
    servers.kubectl(
        "delete", "-n", servers.namespace, "toposerver/my-etcd", "cell/my-gateway", "--wait=false"
    )
    servers.wait_gone("toposerver", "my-etcd")
    servers.wait_gone("cell", "my-gateway")


def test_a_server_whose_members_were_taken_away_has_nothing_left_to_protect(servers: Servers) -> None:
    """Foreground deletion does not ask our finalizer before it deletes the set: to stay would help nobody."""
    servers.server()
    servers.gateway("my-gateway")
    servers.kubectl(
        "delete", "toposerver", "my-etcd", "-n", servers.namespace, "--cascade=foreground", "--wait=false"
    )
    servers.wait_gone("toposerver", "my-etcd")
    servers.wait_event("ProtectionOff", "nothing is left to protect; skipped: the wait for 1 components")
    assert servers.get("cell", "my-gateway")["metadata"].get("deletionTimestamp") is None


def test_a_gateway_scaled_to_zero_is_ready_and_still_counts(servers: Servers) -> None:
    servers.server()
    servers.gateway("my-gateway", replicas=0)
    eventually(
        lambda: (servers.condition("Ready", "cell", "my-gateway") or {}).get("status") == "True",
        "no gateways to be ready",
    )
    servers.delete("toposerver", "my-etcd")
    servers.wait_blocked("(my-gateway)")


def test_a_cell_drains_for_its_period_and_no_longer(servers: Servers) -> None:
    """Its pod would take ten minutes to end."""
    servers.gateway("my-gateway", pods={"steward.local/delete-after": "10m"})
    servers.kubectl(
        "wait", "cell/my-gateway", "-n", servers.namespace, "--for=condition=Ready", "--timeout=90s"
    )
    servers.annotate("cell", "my-gateway", "multigres.com/graceful-shutdown-period=20s")
    servers.delete("cell", "my-gateway")

    def draining() -> Any:
        found = servers.condition("Draining", "cell", "my-gateway")
        return found if found is not None and found["status"] == "True" else None

    assert "Waiting for connections to close" in eventually(draining, "the cell to drain")["message"]
    [deployment] = servers.all("deployment")
    assert deployment["spec"]["replicas"] == 0
    assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 20
    noted = servers.get("cell", "my-gateway")["metadata"]["annotations"]
    assert "multigres.com/graceful-shutdown-started" in noted
    assert servers.all("service") == []
    servers.wait_gone("cell", "my-gateway")
    assert servers.all("pod"), "the pod was not waited for"
    servers.wait_event("ShutdownStarted", "Graceful shutdown started, waiting 20s")
    servers.wait_event("Draining", "Waiting for connections to close")


def test_a_shard_says_that_its_connections_drain_and_for_how_long(servers: Servers) -> None:
    """Its orchestrator would take ten minutes to end, and somebody asks for an hour."""
    shard = servers.shard({"steward.local/delete-after": "10m"})
    servers.kubectl(
        "wait", f"shard/{shard}", "-n", servers.namespace, "--for=condition=Ready", "--timeout=90s"
    )
    servers.annotate("shard", shard, "multigres.com/graceful-shutdown-period=1h")
    servers.delete("shard", shard)
    for type_ in ("Draining", "ConnectionDraining"):

        def draining(type_: str = type_) -> Any:
            found = servers.condition(type_, "shard", shard)
            return found if found is not None and found["status"] == "True" else None

        assert "Waiting for connections to close" in eventually(draining, f"{type_}")["message"]
    servers.wait_event("AnnotationIgnored", "1h is more than allowed; 5m0s is used instead")
    servers.wait_event("ShutdownStarted", "Graceful shutdown started, waiting 5m0s")
    servers.annotate("shard", shard, "multigres.com/force-delete=true")
    servers.wait_gone("shard", shard)
    servers.wait_event("ForceDeleted", "skipped: the grace period of orchestrators and pools")


def test_nonsense_in_an_annotation_is_told_and_the_default_holds(servers: Servers) -> None:
    servers.gateway("my-gateway")
    servers.annotate("cell", "my-gateway", "multigres.com/graceful-shutdown-period=soon")
    servers.annotate("cell", "my-gateway", "multigres.com/graceful-shutdown-started=yesterday")
    servers.delete("cell", "my-gateway")
    servers.wait_gone("cell", "my-gateway")
    servers.wait_event("AnnotationIgnored", "'soon' is no duration, such as 30s or 1m30s; 1s is used instead")
    servers.wait_event("AnnotationIgnored", "'yesterday' is no time; the shutdown starts anew")
