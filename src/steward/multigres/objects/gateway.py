"""Gateways: a Deployment and a Service per cell, and one Service for the whole cluster."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.compute import ExternalGateway
from steward.multigres.api.images import Images
from steward.multigres.api.unset import or_default
from steward.multigres.objects.deployments import ContainerProgram, Placement, deployment
from steward.multigres.objects.metadata import (
    ACCEPTS_CLIENTS_LABEL,
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    Manifest,
    Owner,
    cell_location_labels,
    component_labels,
    node_selector,
)
from steward.multigres.objects.pod_spec import (
    Port,
    downward_api_env,
    http_probes,
    prometheus_env,
    prometheus_ports,
    sampling_mounts,
    sampling_volumes,
    telemetry_env,
)
from steward.multigres.objects.services import service
from steward.multigres.objects.topo_access import topo_access
from steward.multigres.objects.versions import ACCEPTS_CLIENTS, FAILOVER_BUFFERING, version_of
from steward.multigres.resolution import defaults
from steward.multigres.resolution.buffering import complete_buffering

COMPONENT = "multigateway"
HTTP, GRPC = Port("http", 15100), Port("grpc", 15170)
POSTGRES, REPLICA = Port("postgres", 5432), Port("pg-replica", 5433)
METRICS = Port("metrics", 9464)
TLS_DIRECTORY = "/etc/gateway-tls"
CERTIFICATE_ANNOTATION = "multigres.com/gateway-certificate"
"""Of pods: a digest of their certificate, which gateways only read when they start."""


def gateway_objects(owner: Owner, cluster: str, spec: CellSpec, certificate: str = "") -> list[Manifest]:
    """Pods are replaced when the digest of their certificate changes."""
    zone, region = or_default(spec.zone, ""), or_default(spec.region, "")
    labels = component_labels(cluster, COMPONENT, cell_location_labels(spec.name, zone, region))
    placement = Placement(owner, names.gateway(cluster, spec.name), labels, node_selector(zone, region))
    images = or_default(spec.images, Images())
    compute = or_default(spec.multi_gateway, defaults.GATEWAY)
    gateways = _accepting(deployment(placement, compute, _program(spec, images), images), spec)
    if certificate:
        annotations = gateways["spec"]["template"]["metadata"].setdefault("annotations", {})
        annotations[CERTIFICATE_ANNOTATION] = certificate
    return [
        gateways,
        _service(owner, names.gateway_service(cluster, spec.name), labels, (HTTP, GRPC, POSTGRES)),
    ]


def _accepting(manifest: Manifest, spec: CellSpec) -> Manifest:
    """Marks the pods that get new clients. A gateway that drains loses the mark, and keeps its clients."""
    if version_of(spec.objects_version) >= ACCEPTS_CLIENTS:
        manifest["spec"]["template"]["metadata"]["labels"][ACCEPTS_CLIENTS_LABEL] = "true"
    return manifest


def _service(owner: Owner, name: str, labels: Mapping[str, str], ports: Sequence[Port]) -> Manifest:
    """Without the label of the cluster in its selector: pods of the Go operator lack it, and must serve until they are
    replaced. The instance is the same name."""
    manifest = service(owner, name, labels, ports)
    del manifest["spec"]["selector"][CLUSTER_LABEL]
    return manifest


def _program(spec: CellSpec, images: Images) -> ContainerProgram:
    topo = topo_access(spec.global_topo_server)
    levels = or_default(spec.log_levels, defaults.LOG_LEVELS)
    version = version_of(spec.objects_version)
    return ContainerProgram(
        COMPONENT,
        or_default(images.multigateway, or_default(defaults.IMAGES.multigateway, "")),
        (),
        [
            "multigateway",
            f"--http-port={HTTP.number}",
            f"--grpc-port={GRPC.number}",
            f"--pg-port={POSTGRES.number}",
            f"--pg-replica-port={REPLICA.number}",
            *topo.flags,
            f"--cell={spec.name}",
            # The pod's own name cannot be resolved from other pods.
            "--hostname=$(POD_IP)",
            "--service-id=$(POD_NAME)",
            f"--log-level={or_default(levels.multigateway, 'info')}",
            *_buffering_flags(spec),
            *_tls_flags(spec),
        ],
        [
            downward_api_env("POD_IP", "status.podIP"),
            downward_api_env("POD_NAME", "metadata.name"),
            *telemetry_env(spec.observability, COMPONENT, version),
            *prometheus_env(spec.observability, METRICS, version),
        ],
        (HTTP, GRPC, POSTGRES, REPLICA, *prometheus_ports(spec.observability, METRICS, version)),
        http_probes("/ready", "/live", HTTP.name, version),
        [*topo.volumes, *sampling_volumes(spec.observability), *_tls_volumes(spec)],
        [*topo.mounts, *sampling_mounts(spec.observability), *_tls_mounts(spec)],
    )


def _buffering_flags(spec: CellSpec) -> list[str]:
    """Gateways of an older version get them as well once the user sets a field: an edit takes effect at once."""
    written = or_default(spec.multi_gateway, defaults.GATEWAY).buffering
    if written is UNSET and version_of(spec.objects_version) < FAILOVER_BUFFERING:
        return []
    buffering = complete_buffering(written)
    if not buffering.enabled:
        return []
    return [
        "--buffer-enabled",
        f"--buffer-window={buffering.window}",
        f"--buffer-max-failover-duration={buffering.max_failover_duration}",
        f"--buffer-min-time-between-failovers={buffering.min_time_between_failovers}",
        f"--buffer-size={buffering.size}",
    ]


def _tls_flags(spec: CellSpec) -> list[str]:
    tls = spec.gateway_tls
    if tls is UNSET:
        return []
    return [
        f"--pg-tls-cert-file={TLS_DIRECTORY}/tls.crt",
        f"--pg-tls-key-file={TLS_DIRECTORY}/tls.key",
        *(["--pg-require-ssl"] if or_default(tls.required, False) else []),
    ]


def _tls_volumes(spec: CellSpec) -> list[Manifest]:
    if spec.gateway_tls is UNSET:
        return []
    items = [{"key": key, "path": key} for key in ("tls.crt", "tls.key")]
    secret = {"secretName": spec.gateway_tls.secret_name, "defaultMode": 0o440, "items": items}
    return [{"name": "gateway-tls", "secret": secret}]


def _tls_mounts(spec: CellSpec) -> list[Manifest]:
    if spec.gateway_tls is UNSET:
        return []
    return [{"name": "gateway-tls", "mountPath": TLS_DIRECTORY, "readOnly": True}]


def cluster_gateway_service(owner: Owner, external: ExternalGateway | None, version: int) -> Manifest:
    """The address of the cluster: selects the gateways of all cells that accept clients."""
    labels = component_labels(owner.name, COMPONENT)
    manifest = _service(owner, names.cluster_gateway(owner.name), labels, (POSTGRES, REPLICA))
    if version >= ACCEPTS_CLIENTS:
        manifest["spec"]["selector"][ACCEPTS_CLIENTS_LABEL] = "true"
    if external is None or not external.enabled:
        return manifest
    if external.external_ips is not UNSET:
        manifest["spec"]["externalIPs"] = list(external.external_ips)
    else:
        manifest["spec"]["type"] = "LoadBalancer"
    if external.annotations is not UNSET:
        manifest["metadata"]["annotations"] = dict(external.annotations)
    return manifest


def is_unmarked(labels: Mapping[str, str]) -> bool:
    """Whether labels are those of a gateway's pod of an older version."""
    return labels.get(COMPONENT_LABEL) == COMPONENT and ACCEPTS_CLIENTS_LABEL not in labels


def selecting_unmarked(manifest: Manifest, cluster: str) -> Manifest:
    """The Service of the cluster while pods of an older version exist: it selects them as well."""
    is_address = (manifest["kind"], manifest["metadata"]["name"]) == (
        "Service",
        names.cluster_gateway(cluster),
    )
    if not is_address:
        return manifest
    selected = {
        name: value for name, value in manifest["spec"]["selector"].items() if name != ACCEPTS_CLIENTS_LABEL
    }
    return {**manifest, "spec": {**manifest["spec"], "selector": selected}}
