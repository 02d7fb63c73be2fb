"""A cluster on a real API server, and its MultigresBackups."""

from typing import Any

from steward.multigres import names
from steward.multigres.names import ShardPath
from steward.testkit.fake_data_plane.faults import ANNOTATION
from tests.multigres.support.clusters import Clusters, small_cluster
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

NO_WEB = {"multiadminWeb": {"spec": {"replicas": 0}}}
SHARD = names.shard(ShardPath("shop", "postgres", "default", "0-inf"))


class BackedUpCluster:
    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self.kubectl = kubectl
        self.namespace = namespace
        self.clusters = Clusters(kubectl, namespace)

    def apply(self, **spec: Any) -> None:
        self.clusters.apply(small_cluster(self.namespace, "shop", **NO_WEB, **spec))

    def create(self, name: str, **spec: Any) -> None:
        metadata = {"name": name, "namespace": self.namespace}
        spec = {"cluster": "shop", **spec}
        self.clusters.apply(
            {
                "apiVersion": "multigres.com/v1alpha1",
                "kind": "MultigresBackup",
                "metadata": metadata,
                "spec": spec,
            }
        )

    def status(self, name: str) -> Any:
        return (self.clusters.get("mgb", name) or {}).get("status") or {}

    def wait_phase(self, name: str, phase: str) -> Any:
        def reached() -> Any:
            status = self.status(name)
            return status if status.get("phase") == phase else None

        return eventually(reached, f"{name} to be {phase}", explain=lambda: str(self.status(name)))

    def inject(self, fault: str) -> None:
        value = f"{ANNOTATION}={fault}" if fault else f"{ANNOTATION}-"
        self.kubectl("annotate", "shard", SHARD, "-n", self.namespace, "--overwrite", value)
