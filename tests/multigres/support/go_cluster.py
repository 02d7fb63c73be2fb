"""A running cluster as version 0.2.6 of the Go multigres operator leaves it: its objects, while no operator runs.

Names are the same as those of Steward. Different are labels and selectors of gateways and etcd, finalizers, claim
templates without labels, a Secret with the password for each shard, the update strategy of pools and every pod
template. Newer versions run servers as pods of their own (`make_bare`).
"""

import base64
import json
from typing import Any

import msgspec

from steward.kube.objects.kinds import Manifest
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL, TOPO_SERVER_LABEL, Owner
from steward.multigres.objects.tree import cluster_tree
from steward.multigres.objects.versions import FIRST
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from tests.multigres.support.clusters import Clusters, small_cluster
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

IMAGE = "example.com/go-operator:0.2.6"
PASSWORD = "postgres"
MANAGER = "fieldManager=multigres-operator&fieldValidation=Strict"
FINALIZERS = {
    "MultigresCluster": "multigres.com/cluster-cleanup",
    "Cell": "cell.data-handler.multigres.com/finalizer",
    "Shard": "shard.data-handler.multigres.com/finalizer",
}
OWN_KINDS = ("TopoServer", "Cell", "TableGroup", "Shard")
WORKLOADS = ("Deployment", "StatefulSet")
PARTS = ("Service", "ConfigMap", "PersistentVolumeClaim")
MISSING_LABELS = {"multigateway": CLUSTER_LABEL, "toposerver": TOPO_SERVER_LABEL}
"""The label that the Go operator does not set, by component."""


class GoCluster:
    def __init__(self, kubectl: Kubectl, namespace: str, name: str = "shop") -> None:
        self.clusters = Clusters(kubectl, namespace)
        self.kubectl = kubectl
        self.namespace = namespace
        self.name = name
        self._uids: dict[tuple[str, str], str] = {}

    @property
    def path(self) -> ShardPath:
        return ShardPath(self.name, "postgres", "default", "0-inf")

    @property
    def pool(self) -> str:
        return names.pool(self.path, "main", "z1")

    def create(self) -> None:
        """The cluster as its converted manifest says, and what the Go operator has made of it."""
        manifest = small_cluster(self.namespace, self.name)
        self._create({**manifest, "metadata": {**manifest["metadata"], **_finalizers(manifest)}})
        for part in self._tree(manifest):
            self._create(self._as_the_go_operator_makes_it(part))
        self._create(self._password_secret())

    def wait_running(self) -> None:
        eventually(lambda: len(self.pods("shard-pool")) == 2, "the servers of the Go operator")
        for kind in ("deployment", "statefulset"):
            eventually(lambda kind=kind: self._are_rolled_out(kind), f"every {kind} of the Go operator")

    def make_bare(self) -> list[str]:
        """Turns the servers into pods that the Shard itself controls, with claims that no set names."""
        self.kubectl("delete", "statefulset", self.pool, "-n", self.namespace, "--cascade=orphan")
        owner = self._owner("Shard", names.shard(self.path))
        for pod in self.pods("shard-pool"):
            eventually(lambda pod=pod: not self._owners("pod", pod), f"{pod} without a controller")
            self._patch("pod", pod, {"metadata": {"ownerReferences": [owner]}})
        return self.pods("shard-pool")

    def pods(self, component: str) -> list[str]:
        label = f"{COMPONENT_LABEL}={component},app.kubernetes.io/instance={self.name}"
        found = self.kubectl.json("get", "pod", "-n", self.namespace, "-l", label)["items"]
        return sorted(pod["metadata"]["name"] for pod in found)

    def uids(self, *kinds: str) -> dict[str, str]:
        """By kind and name: an object that was made again has another uid."""
        found = self.kubectl.json("get", ",".join(kinds), "-n", self.namespace)["items"]
        return {f"{each['kind']}/{each['metadata']['name']}": each["metadata"]["uid"] for each in found}

    def password(self, secret: str) -> str:
        return base64.b64decode(self.clusters.get("secret", secret)["data"]["password"]).decode()

    def _tree(self, manifest: Manifest) -> list[Manifest]:
        spec = msgspec.convert(manifest["spec"], MultigresClusterSpec)
        resolved = resolve(ClusterIdentity(self.namespace, self.name), spec, Templates({}, {}, {}))
        owner = Owner("MultigresCluster", self.namespace, self.name, "")
        tree = cluster_tree(owner, spec, resolved, FIRST)
        return [each for each in tree if each["kind"] in (*OWN_KINDS, *WORKLOADS, *PARTS)]

    def _create(self, manifest: Manifest) -> None:
        document = {**manifest, "metadata": self._with_owners(manifest["metadata"])}
        kind = self.kubectl.server.kind(f"{manifest['kind']}.{manifest['apiVersion'].rpartition('/')[0]}")
        assert kind is not None, manifest["kind"]
        made = self.kubectl.server.call("POST", f"{kind.path(self.namespace)}?{MANAGER}", document)
        assert made.status == 201, made.body.decode()
        self._uids[manifest["kind"], manifest["metadata"]["name"]] = made.json()["metadata"]["uid"]

    def _with_owners(self, metadata: dict[str, Any]) -> dict[str, Any]:
        owners = [
            {**each, "uid": self._uids[each["kind"], each["name"]]}
            for each in metadata.get("ownerReferences", ())
        ]
        return {**metadata, "namespace": self.namespace, "ownerReferences": owners}

    def _as_the_go_operator_makes_it(self, manifest: Manifest) -> Manifest:
        made = json.loads(json.dumps(manifest))
        made["metadata"] |= _finalizers(made)
        missing = MISSING_LABELS.get(made["metadata"]["labels"].get(COMPONENT_LABEL, ""), "")
        if made["kind"] in OWN_KINDS or not missing:
            missing = ""
        _without(made["metadata"]["labels"], missing)
        if made["kind"] == "Service":
            _without(made["spec"].get("selector", {}), missing)
        if made["kind"] in WORKLOADS:
            _make_workload(made["spec"], missing)
        return dict(made)

    def _password_secret(self) -> Manifest:
        shard = names.shard(self.path)
        labels = {
            "app.kubernetes.io/managed-by": "multigres-operator",
            COMPONENT_LABEL: "postgres-password",
            CLUSTER_LABEL: self.name,
        }
        metadata = {
            "name": f"{shard}-postgres-password",
            "labels": labels,
            "ownerReferences": [self._owner("Shard", shard)],
        }
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata,
            "stringData": {"password": PASSWORD},
        }

    def _owner(self, kind: str, name: str) -> dict[str, Any]:
        return Owner(kind, self.namespace, name, self._uids[kind, name]).reference()

    def _owners(self, kind: str, name: str) -> list[Any]:
        return list(self.clusters.get(kind, name)["metadata"].get("ownerReferences", []))

    def _patch(self, kind: str, name: str, change: dict[str, Any]) -> None:
        self.kubectl("patch", kind, name, "-n", self.namespace, "--type=merge", "-p", json.dumps(change))

    def _are_rolled_out(self, kind: str) -> bool:
        found = self.clusters.all(kind)
        return bool(found) and all(
            each["status"].get("readyReplicas", 0) == each["spec"]["replicas"] for each in found
        )


def _finalizers(manifest: Manifest) -> dict[str, list[str]]:
    return {"finalizers": [FINALIZERS[manifest["kind"]]]} if manifest["kind"] in FINALIZERS else {}


def _make_workload(spec: dict[str, Any], missing: str) -> None:
    template = spec["template"]
    for labels in (spec["selector"]["matchLabels"], template["metadata"]["labels"]):
        _without(labels, missing)
    template["metadata"].pop("annotations", None)
    for container in template["spec"]["containers"]:
        container["image"] = IMAGE
    for claim in spec.get("volumeClaimTemplates", ()):
        claim["metadata"].pop("labels", None)
    if "updateStrategy" in spec:
        spec["updateStrategy"] = {"type": "RollingUpdate"}


def _without(labels: dict[str, str], label: str) -> None:
    labels.pop(label, None)
