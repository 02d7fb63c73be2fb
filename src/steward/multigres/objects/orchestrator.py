"""The orchestrator of a shard: a Deployment and a Service in each of its cells."""

from steward.multigres import names
from steward.multigres.api.images import Images
from steward.multigres.objects.deployments import Placement, Program, deployment
from steward.multigres.objects.metadata import Manifest
from steward.multigres.objects.pods import (
    Port,
    field_env,
    http_probes,
    sampling_mount,
    sampling_volume,
    telemetry_env,
)
from steward.multigres.objects.services import service
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.objects.topology import topo_access
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given

COMPONENT = "multiorch"
HTTP, GRPC = Port("http", 15300), Port("grpc", 15370)


def orchestrator_objects(shard: ShardBuild) -> list[Manifest]:
    cells = given(given(shard.spec.multiorch, defaults.ORCHESTRATOR).cells, [])
    return [built for cell in sorted(cells) for built in _cell_objects(shard, cell)]


def _cell_objects(shard: ShardBuild, cell: str) -> list[Manifest]:
    own = shard.cell_labels(COMPONENT, cell)
    placement = Placement(shard.owner, names.orchestrator(shard.path, cell), own, shard.nodes(cell))
    images = given(shard.spec.images, Images())
    shape = given(shard.spec.multiorch, defaults.ORCHESTRATOR)
    return [
        deployment(placement, shape, _program(shard, cell, images), images),
        service(shard.owner, names.orchestrator_service(shard.path, cell), own, (HTTP, GRPC)),
    ]


def _program(shard: ShardBuild, cell: str, images: Images) -> Program:
    spec, path = shard.spec, shard.path
    topo = topo_access(spec.global_topo_server)
    levels = given(spec.log_levels, defaults.LOG_LEVELS)
    return Program(
        COMPONENT,
        given(images.multiorch, given(defaults.IMAGES.multiorch, "")),
        (),
        [
            "multiorch",
            f"--http-port={HTTP.number}",
            f"--grpc-port={GRPC.number}",
            *topo.flags,
            f"--cell={cell}",
            f"--watch-targets={path.database}/{path.table_group}/{path.shard}",
            "--hostname=$(POD_IP)",
            "--service-id=$(POD_NAME)",
            f"--log-level={given(levels.multiorch, 'info')}",
        ],
        [
            field_env("POD_IP", "status.podIP"),
            field_env("POD_NAME", "metadata.name"),
            *telemetry_env(spec.observability, COMPONENT),
        ],
        (HTTP, GRPC),
        http_probes("/ready", "/live", HTTP.name),
        [*topo.volumes, *sampling_volume(spec.observability)],
        [*topo.mounts, *sampling_mount(spec.observability)],
    )
