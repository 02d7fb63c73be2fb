"""Volumes grow and go although the operator is killed at every write on the way: as many creates and deletes."""

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.multigres.integration.test_operator import Clusters
from tests.multigres.integration.test_topology import run
from tests.multigres.integration.test_volumes import DELETE, Subject, etcd, sized
from tests.multigres.support.process_lives import OF_LIVES, counted, killed_at_every_write, lived
from tests.support.kubectl import Kubectl

pytestmark = OF_LIVES
RETAIN = {"whenDeleted": "Retain", "whenScaled": "Retain"}
KEPT = {**DELETE, "whenScaled": "Retain"}


def made_ready(control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> Subject:
    """A cluster with one Postgres server, and nobody who looks after it any more."""
    subject = Subject(Clusters(kubectl, namespace), "mini")
    subject.apply({**sized("1Gi"), "replicasPerCell": 1}, pvcDeletionPolicy=DELETE)
    subject.annotate("multigres.com/pvc-deletion-grace=1s")
    generation = subject.clusters.get("mgc", "mini")["metadata"]["generation"]
    run(
        lived(
            control_plane,
            namespace,
            lambda: subject.is_ready(generation) and subject.has_policy(subject.pool, KEPT),
        )
    )
    return subject


def test_growing_volumes_under_another_policy_survives_a_kill_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    """The pool's and etcd's at once."""
    grown = made_ready(control_plane, kubectl, namespace)
    pods, claims = grown.uids("pod"), grown.uids("pvc")
    sets = (grown.pool, grown.server)
    before = {name: grown.stateful_set(name)["metadata"]["uid"] for name in sets}
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run(audit.mark())
    pool = {**sized("2Gi"), "replicasPerCell": 1}
    grown.apply(pool, pvcDeletionPolicy=RETAIN, globalTopoServer=etcd("3Gi"))

    def is_over() -> bool:
        return (
            all(grown.is_remade(name, before[name]) and grown.has_policy(name, RETAIN) for name in sets)
            and grown.sizes(grown.pool) == {("2Gi", "2Gi")}
            and grown.sizes(grown.server) == {("3Gi", "3Gi")}
            and grown.condition("shard", grown.shard)["status"] == "True"
            and grown.condition("toposerver", grown.server)["status"] == "True"
        )

    # Two claims that grow, two sets that let go, go and come: most of these writes end two lives.
    assert run(killed_at_every_write(control_plane, namespace, is_over)) >= 2 * 4
    made = counted(run(audit.calls_since(mark)), namespace, "statefulsets", "persistentvolumeclaims", "pods")
    assert sorted(made.pop("+ statefulsets")) == sorted(made.pop("- statefulsets")) == sorted(sets)
    assert not any(made.values()), made
    assert (grown.uids("pod"), grown.uids("pvc")) == (pods, claims)


def test_the_end_of_an_unused_claim_survives_a_kill_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    stopped = made_ready(control_plane, kubectl, namespace)
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
