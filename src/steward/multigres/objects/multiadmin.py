"""multiadmin and multiadmin-web: one Deployment and one Service each, per cluster."""

from steward.multigres import names
from steward.multigres.api.cluster_wide import ClusterWide
from steward.multigres.api.unset import or_default
from steward.multigres.objects.deployments import ContainerProgram, Placement, deployment
from steward.multigres.objects.gateway import POSTGRES
from steward.multigres.objects.metadata import Manifest, Owner, component_labels
from steward.multigres.objects.pod_spec import (
    Port,
    http_probes,
    sampling_mounts,
    sampling_volumes,
    telemetry_env,
)
from steward.multigres.objects.services import service
from steward.multigres.objects.topo_access import topo_access
from steward.multigres.objects.versions import version_of
from steward.multigres.resolution import defaults
from steward.multigres.resolution.resolved import ResolvedCluster

COMPONENT, WEB_COMPONENT = "multiadmin", "multiadmin-web"
HTTP, GRPC, WEB = Port("http", 18000), Port("grpc", 18070), Port("http", 18100)


def multiadmin_objects(owner: Owner, cluster: ResolvedCluster, shared: ClusterWide) -> list[Manifest]:
    labels = component_labels(owner.name, COMPONENT)
    name = names.multiadmin(owner.name)
    topo = topo_access(shared.global_topo_server)
    levels = or_default(shared.log_levels, defaults.LOG_LEVELS)
    program = ContainerProgram(
        COMPONENT,
        or_default(cluster.images.multiadmin, ""),
        ["/multigres/bin/multiadmin"],
        [
            f"--http-port={HTTP.number}",
            f"--grpc-port={GRPC.number}",
            *topo.flags,
            "--service-map=grpc-multiadmin",
            f"--log-level={or_default(levels.multiadmin, 'info')}",
        ],
        telemetry_env(shared.observability, COMPONENT, version_of(shared.objects_version)),
        (HTTP, GRPC),
        http_probes("/ready", "/live", HTTP.name),
        [*topo.volumes, *sampling_volumes(shared.observability)],
        [*topo.mounts, *sampling_mounts(shared.observability)],
    )
    return [
        deployment(Placement(owner, name, labels, {}), cluster.multiadmin, program, cluster.images),
        service(owner, name, labels, (HTTP, GRPC)),
    ]


def multiadmin_web_objects(owner: Owner, cluster: ResolvedCluster) -> list[Manifest]:
    labels = component_labels(owner.name, WEB_COMPONENT)
    name = names.multiadmin_web(owner.name)
    values = {
        "HOSTNAME": "::",
        "MULTIADMIN_API_URL": f"http://{names.multiadmin(owner.name)}:{HTTP.number}",
        "POSTGRES_HOST": names.cluster_gateway(owner.name),
        "POSTGRES_PORT": str(POSTGRES.number),
        "POSTGRES_DATABASE": defaults.SYSTEM_DATABASE,
        "POSTGRES_USER": defaults.SUPERUSER,
    }
    program = ContainerProgram(
        WEB_COMPONENT,
        or_default(cluster.images.multiadmin_web, ""),
        (),
        (),
        [{"name": key, "value": value} for key, value in values.items()],
        (WEB,),
        http_probes("/", "/", WEB.name),
    )
    return [
        deployment(Placement(owner, name, labels, {}), cluster.multiadmin_web, program, cluster.images),
        service(owner, name, labels, (WEB,)),
    ]
