"""Gateways: a Deployment and a Service per cell, and the Service of the whole cluster."""

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.cluster import ExternalGateway
from steward.multigres.api.images import Images
from steward.multigres.objects.deployments import Placement, Program, deployment
from steward.multigres.objects.metadata import Manifest, Owner, cell_place, labels, node_selector
from steward.multigres.objects.pods import (
    Port,
    field_env,
    http_probes,
    sampling_mount,
    sampling_volume,
    telemetry_env,
)
from steward.multigres.objects.services import service
from steward.multigres.objects.topology import topo_access
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given

COMPONENT = "multigateway"
HTTP, GRPC = Port("http", 15100), Port("grpc", 15170)
POSTGRES, REPLICA = Port("postgres", 5432), Port("pg-replica", 5433)


def cell_objects(owner: Owner, cluster: str, spec: CellSpec) -> list[Manifest]:
    zone, region = given(spec.zone, ""), given(spec.region, "")
    own = labels(cluster, COMPONENT, cell_place(spec.name, zone, region))
    placement = Placement(owner, names.gateway(cluster, spec.name), own, node_selector(zone, region))
    images = given(spec.images, Images())
    shape = given(spec.multi_gateway, defaults.GATEWAY)
    return [
        deployment(placement, shape, _program(spec, images), images),
        service(owner, names.gateway_service(cluster, spec.name), own, (HTTP, GRPC, POSTGRES)),
    ]


def _program(spec: CellSpec, images: Images) -> Program:
    topo = topo_access(spec.global_topo_server)
    levels = given(spec.log_levels, defaults.LOG_LEVELS)
    return Program(
        COMPONENT,
        given(images.multigateway, given(defaults.IMAGES.multigateway, "")),
        (),
        [
            "multigateway",
            f"--http-port={HTTP.number}",
            f"--grpc-port={GRPC.number}",
            f"--pg-port={POSTGRES.number}",
            f"--pg-replica-port={REPLICA.number}",
            *topo.flags,
            f"--cell={spec.name}",
            # The pod's own name does not resolve anywhere else.
            "--hostname=$(POD_IP)",
            "--service-id=$(POD_NAME)",
            f"--log-level={given(levels.multigateway, 'info')}",
        ],
        [
            field_env("POD_IP", "status.podIP"),
            field_env("POD_NAME", "metadata.name"),
            *telemetry_env(spec.observability, COMPONENT),
        ],
        (HTTP, GRPC, POSTGRES, REPLICA),
        http_probes("/ready", "/live", HTTP.name),
        [*topo.volumes, *sampling_volume(spec.observability)],
        [*topo.mounts, *sampling_mount(spec.observability)],
    )


def cluster_service(owner: Owner, external: ExternalGateway | None) -> Manifest:
    """The one address of the cluster, over the gateways of all cells."""
    own = labels(owner.name, COMPONENT)
    built = service(owner, names.cluster_gateway(owner.name), own, (POSTGRES, REPLICA))
    if external is None or not external.enabled:
        return built
    if external.external_ips is not UNSET:
        built["spec"]["externalIPs"] = list(external.external_ips)
    else:
        built["spec"]["type"] = "LoadBalancer"
    if external.annotations is not UNSET:
        built["metadata"]["annotations"] = dict(external.annotations)
    return built
