"""etcd of a TopoServer: StatefulSet, headless Service for members, Service for clients, disruption budget.

The list of members is fixed at the first start, which is why `replicas` cannot change.
"""

from collections.abc import Mapping

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.compute import Stateless
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.api.unset import or_default
from steward.multigres.objects.built_in_images import built_in_images
from steward.multigres.objects.metadata import (
    TOPO_SERVER_LABEL,
    Manifest,
    Owner,
    component_labels,
    metadata,
    node_selector,
    selector,
)
from steward.multigres.objects.pod_spec import (
    Port,
    container_security_context,
    downward_api_env,
    http_probes,
    pod_security_fields,
    resource_requirements,
    scheduling_fields,
)
from steward.multigres.objects.services import headless_service, service
from steward.multigres.objects.versions import version_of
from steward.multigres.objects.volumes import claim_template, retention_policy
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN

COMPONENT = "toposerver"
CLAIM = "data"
CLIENT, PEER, METRICS = Port("client", 2379), Port("peer", 2380), Port("metrics", 2381)
DATA_DIRECTORY = "/var/lib/etcd"


def etcd_objects(
    owner: Owner, cluster: str, spec: TopoServerSpec, location: Mapping[str, str]
) -> list[Manifest]:
    labels = component_labels(cluster, COMPONENT, {**location, TOPO_SERVER_LABEL: owner.name})
    return [
        stateful_set(owner, labels, spec),
        headless_service(owner, names.headless(owner.name), labels, (CLIENT, PEER)),
        service(owner, owner.name, labels, (CLIENT,)),
        disruption_budget(owner, labels),
    ]


def stateful_set(owner: Owner, labels: Mapping[str, str], spec: TopoServerSpec) -> Manifest:
    claim = claim_template(CLAIM, or_default(spec.storage, defaults.ETCD.storage), selector(labels))
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(owner, owner.name, labels),
        "spec": {
            "serviceName": names.headless(owner.name),
            "replicas": or_default(spec.replicas, 3),
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "RollingUpdate"},
            "persistentVolumeClaimRetentionPolicy": retention_policy(
                or_default(spec.pvc_deletion_policy, RETAIN)
            ),
            "selector": {"matchLabels": selector(labels)},
            "template": {"metadata": {"labels": dict(labels)}, "spec": _pod(owner, labels, spec)},
            "volumeClaimTemplates": [claim],
        },
    }


def _pod(owner: Owner, labels: Mapping[str, str], spec: TopoServerSpec) -> Manifest:
    pod: Manifest = {
        **pod_security_fields(),
        "terminationGracePeriodSeconds": 30,
        "containers": [_container(owner, spec)],
        **scheduling_fields(labels, Stateless()),
    }
    if selected := node_selector(or_default(spec.zone, ""), or_default(spec.region, "")):
        pod["nodeSelector"] = selected
    if spec.image_pull_secrets is not UNSET:
        pod["imagePullSecrets"] = spec.image_pull_secrets
    return pod


def _container(owner: Owner, spec: TopoServerSpec) -> Manifest:
    return {
        "name": "etcd",
        "image": or_default(spec.image, built_in_images(version_of(spec.objects_version)).etcd),
        "imagePullPolicy": or_default(spec.image_pull_policy, "IfNotPresent"),
        "env": _environment(owner, or_default(spec.replicas, 3)),
        "ports": [port.container_port() for port in (CLIENT, PEER, METRICS)],
        "resources": resource_requirements(spec.resources),
        "securityContext": container_security_context(),
        "volumeMounts": [{"name": "data", "mountPath": DATA_DIRECTORY}],
        **http_probes("/readyz", "/livez", METRICS.name),
    }


def _environment(owner: Owner, replicas: int) -> list[Manifest]:
    domain = f"{names.headless(owner.name)}.{owner.namespace}.svc.cluster.local"
    own_url = f"http://$(POD_NAME).{domain}"
    values = {
        "ETCD_NAME": "$(POD_NAME)",
        "ETCD_DATA_DIR": DATA_DIRECTORY,
        "ETCD_LISTEN_CLIENT_URLS": f"http://[::]:{CLIENT.number}",
        "ETCD_LISTEN_PEER_URLS": f"http://[::]:{PEER.number}",
        "ETCD_LISTEN_METRICS_URLS": f"http://[::]:{METRICS.number}",
        "ETCD_ADVERTISE_CLIENT_URLS": f"{own_url}:{CLIENT.number}",
        "ETCD_INITIAL_ADVERTISE_PEER_URLS": f"{own_url}:{PEER.number}",
        "ETCD_INITIAL_CLUSTER_STATE": "new",
        "ETCD_INITIAL_CLUSTER_TOKEN": owner.name,
        # Poolers write their records periodically: without compaction the history fills etcd until it rejects writes.
        "ETCD_AUTO_COMPACTION_MODE": "periodic",
        "ETCD_AUTO_COMPACTION_RETENTION": "1h",
        "ETCD_INITIAL_CLUSTER": ",".join(
            f"{owner.name}-{index}=http://{owner.name}-{index}.{domain}:{PEER.number}"
            for index in range(replicas)
        ),
    }
    downward = [
        downward_api_env("POD_NAME", "metadata.name"),
        downward_api_env("POD_NAMESPACE", "metadata.namespace"),
    ]
    return [*downward, *({"name": name, "value": value} for name, value in values.items())]


def disruption_budget(owner: Owner, labels: Mapping[str, str]) -> Manifest:
    """One member at a time, so that a majority remains."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(owner, owner.name, labels),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector(labels)}},
    }
