"""A topology server on a real control plane is not deleted while it has dependents, unless a user forces it.

One operator serves all tests, each of which has a namespace of its own.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.scraping import free_port, sample
from tests.multigres.support.served_namespaces import served_namespaces
from tests.multigres.support.toposerver_objects import TopoServerObjects
from tests.multigres.support.waiting import eventually
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

NAMESPACES = 9


@pytest.fixture(scope="module")
def scraped() -> dict[str, str]:
    return {"metrics_bind_address": f"127.0.0.1:{free_port()}", "metrics_secure": "false"}


@pytest.fixture(scope="module")
def served(
    control_plane: ControlPlane,
    api_server: ApiServer,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
    scraped: dict[str, str],
) -> Iterator[list[str]]:
    """Grace of a second: these tests are about what happens, not about how long it takes."""
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    settings = {"default_graceful_shutdown_period": "1s", **scraped}
    with served_namespaces(control_plane, api_server, NAMESPACES, log, **settings) as found:
        yield found


@pytest.fixture
def servers(served: list[str], kubectl: Kubectl) -> TopoServerObjects:
    return TopoServerObjects(kubectl, served.pop())


def test_a_server_stays_until_the_last_of_its_dependents_is_gone(
    servers: TopoServerObjects, scraped: dict[str, str]
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


@pytest.fixture(scope="module")
def draining(served: list[str], kubectl: Kubectl) -> TopoServerObjects:
    """A cell that drains while other tests run: its pod would take ten minutes to end."""
    found = TopoServerObjects(kubectl, served.pop())
    found.gateway("my-gateway", pods={"steward.local/delete-after": "10m"})
    eventually(
        lambda: (found.condition("Ready", "cell", "my-gateway") or {}).get("status") == "True",
        "the gateway to be ready",
    )
    found.annotate("cell", "my-gateway", "multigres.com/graceful-shutdown-period=20s")
    found.delete("cell", "my-gateway")
    return found


def test_a_cell_drains_for_its_period(draining: TopoServerObjects) -> None:
    def condition() -> Any:
        found = draining.condition("Draining", "cell", "my-gateway")
        return found if found is not None and found["status"] == "True" else None

    assert "Waiting for connections to close" in eventually(condition, "the cell to drain")["message"]
    [deployment] = draining.all("deployment")
    assert deployment["spec"]["replicas"] == 0
    assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 20
    noted = draining.get("cell", "my-gateway")["metadata"]["annotations"]
    assert "multigres.com/graceful-shutdown-started" in noted
    assert draining.all("service") == []
    draining.wait_event("ShutdownStarted", "Graceful shutdown started, waiting 20s")
    draining.wait_event("Draining", "Waiting for connections to close")


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        ("multigres.com/deletion-protection=disabled", "ProtectionOff"),
        ("multigres.com/force-delete=true", "ForceDeleted"),
    ],
)
def test_an_annotation_forces_the_deletion_and_the_event_names_the_skipped_steps(
    servers: TopoServerObjects, annotation: str, reason: str
) -> None:
    servers.server()
    servers.gateway("my-gateway")
    servers.delete("toposerver", "my-etcd")
    servers.wait_blocked("1 components")
    servers.annotate("toposerver", "my-etcd", annotation)
    servers.wait_gone("toposerver", "my-etcd")
    servers.wait_event(reason, "Cell my-gateway")
    assert servers.get("cell", "my-gateway")["metadata"].get("deletionTimestamp") is None


def test_a_server_and_its_dependents_can_be_deleted_at_once(servers: TopoServerObjects) -> None:
    servers.server()
    servers.gateway("my-gateway")
    servers.kubectl(
        "delete", "-n", servers.namespace, "toposerver/my-etcd", "cell/my-gateway", "--wait=false"
    )
    servers.wait_gone("toposerver", "my-etcd")
    servers.wait_gone("cell", "my-gateway")


def test_a_server_without_members_is_not_protected(
    servers: TopoServerObjects,
) -> None:
    """Foreground deletion deletes the set in spite of the finalizer: blocking would not protect anything."""
    servers.server()
    servers.gateway("my-gateway")
    servers.kubectl(
        "delete", "toposerver", "my-etcd", "-n", servers.namespace, "--cascade=foreground", "--wait=false"
    )
    servers.wait_gone("toposerver", "my-etcd")
    servers.wait_event("ProtectionOff", "nothing is left to protect; skipped: the wait for 1 components")
    assert servers.get("cell", "my-gateway")["metadata"].get("deletionTimestamp") is None


def test_a_cell_with_gateways_scaled_to_zero_is_ready_and_still_a_dependent(
    servers: TopoServerObjects,
) -> None:
    servers.server()
    servers.gateway("my-gateway", replicas=0)
    eventually(
        lambda: (servers.condition("Ready", "cell", "my-gateway") or {}).get("status") == "True",
        "no gateways to be ready",
    )
    servers.delete("toposerver", "my-etcd")
    servers.wait_blocked("(my-gateway)")


def test_a_shard_reports_draining_and_its_period(servers: TopoServerObjects) -> None:
    """Its orchestrator takes ten minutes to end, and the annotation asks for an hour."""
    shard = servers.shard({"steward.local/delete-after": "10m"})
    eventually(
        lambda: (servers.get("shard", shard).get("status") or {}).get("orchReady"),
        "its orchestrator to be ready",
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


def test_an_invalid_annotation_is_reported_and_the_default_is_used(servers: TopoServerObjects) -> None:
    servers.gateway("my-gateway")
    servers.annotate("cell", "my-gateway", "multigres.com/graceful-shutdown-period=soon")
    servers.annotate("cell", "my-gateway", "multigres.com/graceful-shutdown-started=yesterday")
    servers.delete("cell", "my-gateway")
    servers.wait_gone("cell", "my-gateway")
    servers.wait_event("AnnotationIgnored", "'soon' is no duration, such as 30s or 1m30s; 1s is used instead")
    servers.wait_event("AnnotationIgnored", "'yesterday' is not a timestamp; the shutdown starts again")


def test_a_cell_drains_no_longer_than_its_period(draining: TopoServerObjects) -> None:
    draining.wait_gone("cell", "my-gateway")
    assert draining.all("pod"), "the pod was not waited for"
