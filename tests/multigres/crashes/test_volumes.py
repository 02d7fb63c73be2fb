"""Volume changes with a crash at every write make the same creates and deletes as without."""

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.multigres.support.clusters import Clusters
from tests.multigres.support.crash_runs import count_writes, crash_at_every_write, run_until
from tests.multigres.support.volume_cluster import DELETE, VolumeCluster, topo_server, with_storage
from tests.multigres.support.waiting import run_async
from tests.support.crashes import CRASH_MARKS
from tests.support.kubectl import Kubectl

pytestmark = CRASH_MARKS
RETAIN = {"whenDeleted": "Retain", "whenScaled": "Retain"}
KEPT = {**DELETE, "whenScaled": "Retain"}


def made_ready(control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> VolumeCluster:
    """A ready cluster with two Postgres servers, without a running operator."""
    subject = VolumeCluster(Clusters(kubectl, namespace), "mini")
    subject.apply({**with_storage("1Gi"), "replicasPerCell": 2}, pvcDeletionPolicy=DELETE)
    subject.annotate("multigres.com/pvc-deletion-grace=1s")
    generation = subject.clusters.get("mgc", "mini")["metadata"]["generation"]
    run_async(
        run_until(
            control_plane,
            namespace,
            lambda: subject.is_ready(generation) and subject.has_policy(subject.pool, KEPT),
        )
    )
    return subject


def test_growing_volumes_under_another_policy_survives_a_crash_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    """Volumes of the pool and of etcd at once."""
    grown = made_ready(control_plane, kubectl, namespace)
    pods, claims = grown.uids("pod"), grown.uids("pvc")
    sets = (grown.pool, grown.server)
    before = {name: grown.stateful_set(name)["metadata"]["uid"] for name in sets}
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run_async(audit.mark())
    pool = {**with_storage("2Gi"), "replicasPerCell": 2}
    grown.apply(pool, pvcDeletionPolicy=RETAIN, globalTopoServer=topo_server("3Gi"))

    def is_done() -> bool:
        return (
            all(grown.is_recreated(name, before[name]) and grown.has_policy(name, RETAIN) for name in sets)
            and grown.sizes(grown.pool) == {("2Gi", "2Gi")}
            and grown.sizes(grown.server) == {("3Gi", "3Gi")}
            and grown.condition("shard", grown.shard)["status"] == "True"
            and grown.condition("toposerver", grown.server)["status"] == "True"
        )

    # Three claims grow, two sets are recreated: most of these writes crash the operator.
    assert run_async(crash_at_every_write(control_plane, namespace, is_done)) >= 4
    made = count_writes(
        run_async(audit.calls_since(mark)), namespace, "statefulsets", "persistentvolumeclaims", "pods"
    )
    assert sorted(made.pop("+ statefulsets")) == sorted(made.pop("- statefulsets")) == sorted(sets)
    assert not any(made.values()), made
    assert (grown.uids("pod"), grown.uids("pvc")) == (pods, claims)


def test_the_deletion_of_unused_claims_survives_a_crash_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    stopped = made_ready(control_plane, kubectl, namespace)
    unused = set(stopped.claims(stopped.pool))
    assert len(unused) == 2
    others = set(stopped.uids("pvc")) - unused
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run_async(audit.mark())
    stopped.apply({**with_storage("1Gi"), "replicasPerCell": 0}, pvcDeletionPolicy=DELETE)

    def is_done() -> bool:
        return stopped.claims(stopped.pool) == {} and stopped.retained() == []

    # The scale-down, the annotation of a claim and its deletion: most of these writes crash the operator.
    assert run_async(crash_at_every_write(control_plane, namespace, is_done)) >= 2
    made = count_writes(
        run_async(audit.calls_since(mark)), namespace, "statefulsets", "persistentvolumeclaims", "pods"
    )
    assert set(made.pop("- persistentvolumeclaims")) == unused
    assert not any(made.values()), made
    assert set(stopped.uids("pvc")) == others
