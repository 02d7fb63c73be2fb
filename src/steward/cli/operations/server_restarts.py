"""Restarts the Postgres servers of pools: asks the operator by an annotation of the Shard, and follows its progress.

The operator changes the pod template, and replaces pods by the rules of every rolling change: one server of a shard at
a time, the next when the cohort is whole again, the primary last and after a switch. The decisions here are pure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from steward.cli.operations.outcome import FIELD_MANAGER, POLL_SECONDS, Report, RequestError, condition
from steward.cli.primary_switchover import read_shards, shard_label
from steward.kube.client.client import Client
from steward.kube.objects.kinds import POD, Key, Manifest, Ref
from steward.kube.objects.options import ListQuery
from steward.kube.objects.patches import MergePatch
from steward.multigres import reasons
from steward.multigres.cache_rules import SHARD
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    DATABASE_LABEL,
    POOL_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.objects.pool import COMPONENT, RESTART_ANNOTATION
from steward.multigres.objects.shard_inputs import RESTART_PREFIX
from steward.multigres.status.conditions import ROLLING_UPDATE

_PATH_LABELS = (CLUSTER_LABEL, DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)


def restart_value(now: datetime) -> str:
    return f"{now:%Y-%m-%dT%H:%M:%SZ}"


class ServerRestart(NamedTuple):
    """Pools of one Shard whose servers are restarted; `value` tells this restart from earlier ones."""

    shard: Manifest
    pools: tuple[str, ...]
    value: str

    @property
    def ref(self) -> Ref:
        meta = self.shard["metadata"]
        return Ref(SHARD, Key(meta["namespace"], meta["name"]))

    @property
    def cluster(self) -> str:
        return str((self.shard["metadata"].get("labels") or {}).get(CLUSTER_LABEL, ""))

    @property
    def servers(self) -> int:
        """How many servers the pools are to have."""
        return sum(map(self._pool_size, self.pools))

    def _pool_size(self, name: str) -> int:
        pool = self.shard["spec"]["pools"][name]
        return int(pool.get("replicasPerCell") or 0) * len(pool.get("cells") or ())

    def describe(self) -> str:
        servers = f"{self.servers} server{'' if self.servers == 1 else 's'}"
        pools = f"pool{'' if len(self.pools) == 1 else 's'} {', '.join(self.pools)}"
        return f"{servers} of {pools} of shard {shard_label(self.shard)}"

    def describe_effect(self) -> str:
        alone = "which does not serve meanwhile" if self.servers == 1 else "one at a time"
        return f"restarts {self.describe()}, {alone}"

    def patch(self) -> MergePatch:
        annotations = {f"{RESTART_PREFIX}{pool}": self.value for pool in self.pools}
        version = self.shard["metadata"]["resourceVersion"]
        return MergePatch.metadata_at_version(version, annotations=annotations)


def select_restarts(
    shards: Sequence[Manifest], label: str, pool: str, value: str
) -> tuple[ServerRestart, ...]:
    """The pools of this name in the Shard with this label; without them, all pools and all Shards."""
    chosen = [shard for shard in shards if not label or shard_label(shard) == label]
    if not chosen:
        known = ", ".join(sorted(map(shard_label, shards))) or "none"
        raise RequestError(f"there is no shard {label or 'of this cluster'} here; there are: {known}")
    restarts = [ServerRestart(shard, _pools(shard, pool), value) for shard in chosen]
    found = tuple(each for each in restarts if each.servers)
    if not found:
        known = ", ".join(sorted({name for shard in chosen for name in shard["spec"].get("pools") or {}}))
        raise RequestError(
            f"no pool {pool} with servers; there are: {known}" if pool else "no pool has servers"
        )
    return found


def _pools(shard: Manifest, pool: str) -> tuple[str, ...]:
    return tuple(name for name in sorted(shard["spec"].get("pools") or {}) if pool in ("", name))


class RestartProgress(NamedTuple):
    """How many servers have been restarted and are ready, and what the operator reports."""

    restarted: int
    message: str
    is_done: bool = False
    stopped: str = ""


def restart_progress(restart: ServerRestart, shard: Manifest, pods: Iterable[Manifest]) -> RestartProgress:
    own = [pod for pod in pods if _is_server(restart, pod)]
    new = [pod for pod in own if _annotations(pod).get(RESTART_ANNOTATION) == restart.value]
    rolling = condition(shard, ROLLING_UPDATE)
    is_rolling = rolling.get("status") == "True"
    message = str(rolling.get("message") or "") if is_rolling else ""
    if rolling.get("reason") == reasons.ROLLOUT_STOPPED:
        return RestartProgress(len(new), message, stopped=message)
    is_whole = len(new) == len(own) >= restart.servers and all(map(_is_ready, new))
    return RestartProgress(len(new), message, is_whole and not is_rolling)


def _is_server(restart: ServerRestart, pod: Manifest) -> bool:
    """Of its own cluster: the shards of other clusters often have the same names."""
    labels, spec = pod["metadata"].get("labels") or {}, restart.shard["spec"]
    expected = (restart.cluster, spec["databaseName"], spec["tableGroupName"], spec["shardName"])
    return tuple(map(labels.get, _PATH_LABELS)) == expected and labels.get(POOL_LABEL) in restart.pools


def _annotations(pod: Manifest) -> dict[str, str]:
    return pod["metadata"].get("annotations") or {}


def _is_ready(pod: Manifest) -> bool:
    return "deletionTimestamp" not in pod["metadata"] and condition(pod, "Ready").get("status") == "True"


async def read_restarts(
    client: Client, cluster: Key, label: str, pool: str, value: str
) -> tuple[ServerRestart, ...]:
    return select_restarts(await read_shards(client, cluster.namespace, cluster.name), label, pool, value)


async def request_restart(client: Client, restart: ServerRestart) -> None:
    await client.patch(restart.ref, restart.patch(), manager=FIELD_MANAGER)


async def wait_for_restart(client: Client, restart: ServerRestart, seconds: float, report: Report) -> None:
    """Waits until every server has restarted; raises when the operator has stopped, or time is up."""
    loop, reported = asyncio.get_running_loop(), ""
    deadline = loop.time() + seconds
    while True:
        progress = restart_progress(
            restart, await client.get(SHARD, restart.ref.key), await _server_pods(client, restart.ref.key)
        )
        if progress.is_done:
            return
        if progress.stopped:
            raise RequestError(f"shard {shard_label(restart.shard)}: {progress.stopped}")
        if progress.message not in ("", reported):
            report(reported := progress.message)
        if loop.time() >= deadline:
            done = f"{progress.restarted} of {restart.servers} servers have restarted after {seconds:g} s"
            state = progress.message or "no rolling update is in progress"
            raise RequestError(f"{done}, and the operator goes on; it reports: {state}")
        await asyncio.sleep(POLL_SECONDS)


async def _server_pods(client: Client, shard: Key) -> list[Manifest]:
    selector = f"{CLUSTER_LABEL},{COMPONENT_LABEL}={COMPONENT}"
    return list((await client.list(POD, ListQuery(namespace=shard.namespace, label_selector=selector))).items)
