"""The servers that a shard has and should have, from its spec and its pods. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import CELL_LABEL, POOL_LABEL
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.resolution import defaults
from steward.multigres.servers.assessment import ServerPod
from steward.multigres.views import PodView, ShardView


def server_pods(shard: ShardView, pods: Iterable[PodView]) -> list[ServerPod]:
    """Desired servers first, then those that are to leave; each in the order of their names."""
    existing = {pod.metadata.name: pod for pod in pods}
    desired = {server.name: _with_pod(server, existing) for server in _desired(shard)}
    others = [_undesired(pod) for name, pod in existing.items() if name not in desired]
    return [*_sorted(desired.values()), *_sorted(others)]


def _desired(shard: ShardView) -> Iterator[ServerPod]:
    path = shard_path(shard)
    for pool_name, pool in or_default(shard.spec.pools, {}).items():
        for cell in or_default(pool.cells, []):
            base = names.pool(path, pool_name, cell)
            for ordinal in range(or_default(pool.replicas_per_cell, defaults.POOL_REPLICAS)):
                yield ServerPod(f"{base}-{ordinal}", cell, pool_name, exists=False)


def _with_pod(server: ServerPod, existing: Mapping[str, PodView]) -> ServerPod:
    pod = existing.get(server.name)
    if pod is None:
        return server
    is_terminating = pod.metadata.deletion_timestamp is not None
    return server._replace(exists=True, is_ready=_is_ready(pod), is_terminating=is_terminating)


def _undesired(pod: PodView) -> ServerPod:
    meta = pod.metadata
    server = ServerPod(
        meta.name, meta.labels.get(CELL_LABEL, ""), meta.labels.get(POOL_LABEL, ""), is_desired=False
    )
    return _with_pod(server, {meta.name: pod})


def _is_ready(pod: PodView) -> bool:
    return any(
        condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions
    )


def _sorted(servers: Iterable[ServerPod]) -> list[ServerPod]:
    return sorted(servers, key=lambda server: server.name)
