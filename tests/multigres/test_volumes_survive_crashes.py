"""Volumes grow and go although the operator is killed at every write on the way: as many creates and deletes."""

from pathlib import Path

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.kubectl import Kubectl
from tests.multigres.conftest import running_operator
from tests.multigres.lives import counted, killed_at_every_write
from tests.multigres.test_operator import Clusters, eventually
from tests.multigres.test_topology_on_a_server import run
from tests.multigres.test_volumes_on_a_server import DELETE, Subject, sized

KEPT = {**DELETE, "whenScaled": "Retain"}


def made_ready(control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path) -> Subject:
    """A cluster with one Postgres server, and nobody who looks after it any more."""
    subject = Subject(Clusters(kubectl, namespace), "mini")
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        subject.apply({**sized("1Gi"), "replicasPerCell": 1}, pvcDeletionPolicy=DELETE)
        subject.annotate("multigres.com/pvc-deletion-grace=1s")
        subject.wait_ready()
        eventually(lambda: subject.has_policy(subject.pool, KEPT), "the set to keep its claims for the grace")
    return subject


def test_growing_a_volume_survives_a_kill_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    grown = made_ready(control_plane, kubectl, namespace, tmp_path)
    pods, claims = grown.uids("pod"), grown.uids("pvc")
    before = grown.stateful_set(grown.pool)["metadata"]["uid"]
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run(audit.mark())
    grown.apply({**sized("2Gi"), "replicasPerCell": 1}, pvcDeletionPolicy=DELETE)

    def is_over() -> bool:
        return (
            grown.is_remade(grown.pool, before)
            and grown.has_policy(grown.pool, KEPT)
            and grown.sizes(grown.pool) == {("2Gi", "2Gi")}
            and grown.condition("shard", grown.shard)["status"] == "True"
        )

    # A claim that grows, a set that lets go, goes and comes: most of these writes end two lives.
    assert run(killed_at_every_write(control_plane, namespace, is_over)) >= 2 * 3
    made = counted(run(audit.calls_since(mark)), namespace, "statefulsets", "persistentvolumeclaims", "pods")
    assert made.pop("+ statefulsets") == made.pop("- statefulsets") == [grown.pool]
    assert not any(made.values()), made
    assert (grown.uids("pod"), grown.uids("pvc")) == (pods, claims)


def test_the_end_of_an_unused_claim_survives_a_kill_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    stopped = made_ready(control_plane, kubectl, namespace, tmp_path)
    [claim] = stopped.claims(stopped.pool)
    others = set(stopped.uids("pvc")) - {claim}
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run(audit.mark())
    stopped.apply({**sized("1Gi"), "replicasPerCell": 0}, pvcDeletionPolicy=DELETE)

    def is_over() -> bool:
        return stopped.claims(stopped.pool) == {} and stopped.retained() == []

    # A set that is scaled, the mark on the claim and its end: most of these writes end two lives.
    assert run(killed_at_every_write(control_plane, namespace, is_over)) >= 2 * 2
    made = counted(run(audit.calls_since(mark)), namespace, "statefulsets", "persistentvolumeclaims", "pods")
    assert made.pop("- persistentvolumeclaims") == [claim]
    assert not any(made.values()), made
    assert set(stopped.uids("pvc")) == others
