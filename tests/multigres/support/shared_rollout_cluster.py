"""A cluster that the tests of a file roll and scale one after another, and an image whose pods crash."""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from steward.local.kwok.pods import POD
from steward.multigres.rollout.restarts import FORCE_ROLLOUT
from tests.multigres.support.rollout_cluster import BAD, RolloutCluster
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

SETTINGS = {"postgresConfigRef": {"name": "settings", "key": "postgresql.conf"}}


class SharedRolloutCluster(RolloutCluster):
    """A cluster of which every test begins with the image that the last one has left, and rolls to another one."""

    number = 1
    pools: Mapping[str, Any] = {}

    @property
    def image(self) -> str:
        return f"example.com/pgctld:{self.number}"

    def scale(self, pools: Mapping[str, Any]) -> None:
        self.pools = pools
        self.apply_image(self.image, dict(pools), SETTINGS)

    def roll(self) -> tuple[str, str]:
        """Applies another image; returns the old and the new one."""
        old = self.image
        self.number += 1
        self.scale(self.pools)
        return old, self.image

    def apply_bad_image(self) -> None:
        self.apply_image(BAD, dict(self.pools), SETTINGS)

    def wait_settled(self) -> None:
        """Every pod runs the image, and the cluster is ready with a primary."""
        self.wait_updated(self.image, sum(pool["replicasPerCell"] for pool in self.pools.values()))
        self.wait_primary()
        eventually(lambda: self.shard["status"].get("primary"), "the status to name the primary")

    def count_images(self) -> Mapping[str, int]:
        return Counter(self.images())

    def clear_everything(self) -> None:
        self.clear_faults()
        self.clear_server_faults()
        self.annotate_shard(f"{FORCE_ROLLOUT}-")

    def apply_max_connections(self, value: int) -> None:
        """In the ConfigMap that the shard refers to."""
        data = {"postgresql.conf": f"max_connections = {value}\n"}
        metadata = {"name": "settings", "namespace": self.namespace}
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        self.kubectl("apply", "-f", "-", document=manifest)

    def mounted_settings(self) -> str:
        found = self.clusters.get("configmap", f"{self.shard_name}-postgres-config")
        return str(found["data"]["postgresql.conf"])


@contextmanager
def crashing_bad_image(kubectl: Kubectl, namespace: str) -> Iterator[None]:
    """Pods of the bad image crash: the stages of the local control plane read an annotation, and a policy sets it."""
    name = f"bad-image-{secrets.token_hex(4)}"
    created = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
    bad = f"has(object.spec.initContainers) && object.spec.initContainers.exists(c, c.image == '{BAD}')"
    expression = f"Object{{metadata: Object.metadata{{annotations: {{'{POD}': 'crash-loop'}}}}}}"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [created]},
            "matchConditions": [
                {"name": "here", "expression": f"request.namespace == '{namespace}'"},
                {"name": "bad", "expression": bad},
            ],
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    kubectl("create", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": [policy, binding]})
    try:
        eventually(lambda: _is_marked(kubectl, namespace), "the policy to be active")
        yield
    finally:
        kubectl("delete", f"mutatingadmissionpolicy/{name}", f"mutatingadmissionpolicybinding/{name}")


def _is_marked(kubectl: Kubectl, namespace: str) -> bool:
    tried = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "tried", "namespace": namespace},
        "spec": {
            "initContainers": [{"name": "a", "image": BAD}],
            "containers": [{"name": "b", "image": "b"}],
        },
    }
    answer = kubectl.server.call("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", tried)
    assert answer.status < 300, answer.body
    return POD in answer.body.decode()
