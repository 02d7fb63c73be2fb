"""etcd behind a TopoServer: a StatefulSet, the Service that members use and the Service that clients use.

The list of members is part of the first start and fixed from then on, which is why `replicas` cannot change.
"""

from collections.abc import Mapping

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.compute import Stateless
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.objects.metadata import (
    TOPO_SERVER,
    Manifest,
    Owner,
    labels,
    metadata,
    node_selector,
    selector,
)
from steward.multigres.objects.pods import (
    Port,
    container_security,
    field_env,
    http_probes,
    pod_security,
    resources,
    spread,
)
from steward.multigres.objects.services import headless_service, service
from steward.multigres.objects.volumes import claim_template, retention_policy
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN
from steward.multigres.resolution.layers import given

COMPONENT = "toposerver"
CLIENT, PEER, METRICS = Port("client", 2379), Port("peer", 2380), Port("metrics", 2381)
DATA_DIRECTORY = "/var/lib/etcd"


def topo_server_objects(
    owner: Owner, cluster: str, spec: TopoServerSpec, place: Mapping[str, str]
) -> list[Manifest]:
    own = labels(cluster, COMPONENT, {**place, TOPO_SERVER: owner.name})
    return [
        stateful_set(owner, own, spec),
        headless_service(owner, names.headless(owner.name), own, (CLIENT, PEER)),
        service(owner, owner.name, own, (CLIENT,)),
        disruption_budget(owner, own),
    ]


def stateful_set(owner: Owner, own: Mapping[str, str], spec: TopoServerSpec) -> Manifest:
    claim = claim_template("data", given(spec.storage, defaults.ETCD.storage), selector(own))
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(owner, owner.name, own),
        "spec": {
            "serviceName": names.headless(owner.name),
            "replicas": given(spec.replicas, 3),
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "RollingUpdate"},
            "persistentVolumeClaimRetentionPolicy": retention_policy(given(spec.pvc_deletion_policy, RETAIN)),
            "selector": {"matchLabels": selector(own)},
            "template": {"metadata": {"labels": dict(own)}, "spec": _pod(owner, own, spec)},
            "volumeClaimTemplates": [claim],
        },
    }


def _pod(owner: Owner, own: Mapping[str, str], spec: TopoServerSpec) -> Manifest:
    pod: Manifest = {
        "securityContext": pod_security(),
        "terminationGracePeriodSeconds": 30,
        "containers": [_container(owner, spec)],
        **spread(own, Stateless()),
    }
    if selected := node_selector(given(spec.zone, ""), given(spec.region, "")):
        pod["nodeSelector"] = selected
    if spec.image_pull_secrets is not UNSET:
        pod["imagePullSecrets"] = spec.image_pull_secrets
    return pod


def _container(owner: Owner, spec: TopoServerSpec) -> Manifest:
    return {
        "name": "etcd",
        "image": given(spec.image, defaults.ETCD_IMAGE),
        "imagePullPolicy": given(spec.image_pull_policy, "IfNotPresent"),
        "env": _environment(owner, given(spec.replicas, 3)),
        "ports": [port.of_container() for port in (CLIENT, PEER, METRICS)],
        "resources": resources(spec.resources),
        "securityContext": container_security(),
        "volumeMounts": [{"name": "data", "mountPath": DATA_DIRECTORY}],
        **http_probes("/readyz", "/livez", METRICS.name),
    }


def _environment(owner: Owner, replicas: int) -> list[Manifest]:
    domain = f"{names.headless(owner.name)}.{owner.namespace}.svc.cluster.local"
    this = f"http://$(POD_NAME).{domain}"
    values = {
        "ETCD_NAME": "$(POD_NAME)",
        "ETCD_DATA_DIR": DATA_DIRECTORY,
        "ETCD_LISTEN_CLIENT_URLS": f"http://[::]:{CLIENT.number}",
        "ETCD_LISTEN_PEER_URLS": f"http://[::]:{PEER.number}",
        "ETCD_LISTEN_METRICS_URLS": f"http://[::]:{METRICS.number}",
        "ETCD_ADVERTISE_CLIENT_URLS": f"{this}:{CLIENT.number}",
        "ETCD_INITIAL_ADVERTISE_PEER_URLS": f"{this}:{PEER.number}",
        "ETCD_INITIAL_CLUSTER_STATE": "new",
        "ETCD_INITIAL_CLUSTER_TOKEN": owner.name,
        # Poolers write their records again and again: without it the history fills the server until it takes no write.
        "ETCD_AUTO_COMPACTION_MODE": "periodic",
        "ETCD_AUTO_COMPACTION_RETENTION": "1h",
        "ETCD_INITIAL_CLUSTER": ",".join(
            f"{owner.name}-{index}=http://{owner.name}-{index}.{domain}:{PEER.number}"
            for index in range(replicas)
        ),
    }
    downward = [field_env("POD_NAME", "metadata.name"), field_env("POD_NAMESPACE", "metadata.namespace")]
    return [*downward, *({"name": name, "value": value} for name, value in values.items())]


def disruption_budget(owner: Owner, own: Mapping[str, str]) -> Manifest:
    """One member at a time: a majority always stays."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(owner, owner.name, own),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector(own)}},
    }
