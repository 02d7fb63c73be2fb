"""multiadmin and its web page: one Deployment and one Service each, per cluster."""

from steward.multigres import names
from steward.multigres.api.observability import LogLevels, Observability
from steward.multigres.api.scalars import Unset
from steward.multigres.objects.deployments import Placement, Program, deployment
from steward.multigres.objects.gateway import POSTGRES
from steward.multigres.objects.metadata import Manifest, Owner, labels
from steward.multigres.objects.pods import (
    Port,
    http_probes,
    sampling_mount,
    sampling_volume,
    telemetry_env,
)
from steward.multigres.objects.services import service
from steward.multigres.objects.topology import topo_access
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCluster

COMPONENT, WEB_COMPONENT = "multiadmin", "multiadmin-web"
HTTP, GRPC, WEB = Port("http", 18000), Port("grpc", 18070), Port("http", 18100)


def multiadmin_objects(
    owner: Owner, cluster: ResolvedCluster, levels: LogLevels, telemetry: Observability | Unset
) -> list[Manifest]:
    own = labels(owner.name, COMPONENT)
    name = names.multiadmin(owner.name)
    topo = topo_access(cluster.topo.reference)
    program = Program(
        COMPONENT,
        given(cluster.images.multiadmin, ""),
        ["/multigres/bin/multiadmin"],
        [
            f"--http-port={HTTP.number}",
            f"--grpc-port={GRPC.number}",
            *topo.flags,
            "--service-map=grpc-multiadmin",
            f"--log-level={given(levels.multiadmin, 'info')}",
        ],
        telemetry_env(telemetry, COMPONENT),
        (HTTP, GRPC),
        http_probes("/ready", "/live", HTTP.name),
        [*topo.volumes, *sampling_volume(telemetry)],
        [*topo.mounts, *sampling_mount(telemetry)],
    )
    return [
        deployment(Placement(owner, name, own, {}), cluster.multiadmin, program, cluster.images),
        service(owner, name, own, (HTTP, GRPC)),
    ]


def web_objects(owner: Owner, cluster: ResolvedCluster) -> list[Manifest]:
    own = labels(owner.name, WEB_COMPONENT)
    name = names.multiadmin_web(owner.name)
    values = {
        "HOSTNAME": "::",
        "MULTIADMIN_API_URL": f"http://{names.multiadmin(owner.name)}:{HTTP.number}",
        "POSTGRES_HOST": names.cluster_gateway(owner.name),
        "POSTGRES_PORT": str(POSTGRES.number),
        "POSTGRES_DATABASE": defaults.SYSTEM_DATABASE,
        "POSTGRES_USER": defaults.SUPERUSER,
    }
    program = Program(
        WEB_COMPONENT,
        given(cluster.images.multiadmin_web, ""),
        (),
        (),
        [{"name": key, "value": value} for key, value in values.items()],
        (WEB,),
        http_probes("/", "/", WEB.name),
    )
    return [
        deployment(Placement(owner, name, own, {}), cluster.multiadmin_web, program, cluster.images),
        service(owner, name, own, (WEB,)),
    ]
