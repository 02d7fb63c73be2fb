"""Orchestrators of a shard: a Deployment and a Service in each of its cells."""

from steward.multigres import names
from steward.multigres.api.images import Images
from steward.multigres.api.unset import or_default
from steward.multigres.objects.deployments import ContainerProgram, Placement, deployment
from steward.multigres.objects.metadata import Manifest
from steward.multigres.objects.pod_spec import (
    Port,
    downward_api_env,
    http_probes,
    sampling_mounts,
    sampling_volumes,
    telemetry_env,
)
from steward.multigres.objects.services import service
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.objects.topo_access import topo_access
from steward.multigres.objects.versions import SHORT_ELECTION_WAIT
from steward.multigres.resolution import defaults

COMPONENT = "multiorch"
HTTP, GRPC = Port("http", 15300), Port("grpc", 15370)
ELECTION_WAIT_SECONDS, ELECTION_JITTER_SECONDS = 2, 1
"""How long an orchestrator waits before it elects another primary. Its own default of 4 to 12 s also holds for a
planned switch, and writes wait for all of it. Less than the 2 s that a primary needs to become a standby is harmful: a
server that is restarting at the election has changes that no other server has, and must be rewound."""


def orchestrator_objects(shard: ShardInputs) -> list[Manifest]:
    cells = or_default(or_default(shard.spec.multiorch, defaults.ORCHESTRATOR).cells, [])
    return [manifest for cell in sorted(cells) for manifest in _cell_objects(shard, cell)]


def _cell_objects(shard: ShardInputs, cell: str) -> list[Manifest]:
    labels = shard.cell_labels(COMPONENT, cell)
    placement = Placement(
        shard.owner, names.orchestrator(shard.path, cell), labels, shard.node_selector(cell)
    )
    images = or_default(shard.spec.images, Images())
    compute = or_default(shard.spec.multiorch, defaults.ORCHESTRATOR)
    return [
        deployment(placement, compute, _program(shard, cell, images), images),
        service(shard.owner, names.orchestrator_service(shard.path, cell), labels, (HTTP, GRPC)),
    ]


def _program(shard: ShardInputs, cell: str, images: Images) -> ContainerProgram:
    spec, path = shard.spec, shard.path
    topo = topo_access(spec.global_topo_server)
    levels = or_default(spec.log_levels, defaults.LOG_LEVELS)
    return ContainerProgram(
        COMPONENT,
        or_default(images.multiorch, or_default(defaults.IMAGES.multiorch, "")),
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
            f"--log-level={or_default(levels.multiorch, 'info')}",
            *_election_flags(shard),
        ],
        [
            downward_api_env("POD_IP", "status.podIP"),
            downward_api_env("POD_NAME", "metadata.name"),
            *telemetry_env(spec.observability, COMPONENT, shard.version),
        ],
        (HTTP, GRPC),
        http_probes("/ready", "/live", HTTP.name, shard.version),
        [*topo.volumes, *sampling_volumes(spec.observability)],
        [*topo.mounts, *sampling_mounts(spec.observability)],
    )


def _election_flags(shard: ShardInputs) -> list[str]:
    if shard.version < SHORT_ELECTION_WAIT:
        return []
    return [
        f"--leader-failover-grace-period-base={ELECTION_WAIT_SECONDS}s",
        f"--leader-failover-grace-period-max-jitter={ELECTION_JITTER_SECONDS}s",
    ]
