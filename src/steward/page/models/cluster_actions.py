"""Actions on a cluster and its shards. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from steward.cli.commands.backup import Request, backup_manifests
from steward.cli.commands.running.switchover import command as switchover
from steward.cli.commands.updates import apply, message_without_cure, rollback
from steward.cli.hints import command_line
from steward.cli.operations.outcome import RequestError
from steward.cli.operations.server_restarts import ServerRestart, restart_value, select_restarts
from steward.cli.operations.spec_switches import check_changeable, check_not_paused
from steward.cli.primary_switchover import SwitchError, observed_primary, shard_label
from steward.kube.objects.kinds import Manifest, Ref, ref_of
from steward.kube.objects.patches import MergePatch
from steward.multigres.cache_rules import SHARD
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.rollout.node_drain import SWITCH_FROM
from steward.multigres.template_updates.history import accept_patch, revision_history, rollback_patch
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.action import Action, pause_action, verb_help
from steward.page.models.cluster import cluster_template_state


def cluster_actions(snapshot: Snapshot, cluster: Manifest, now: datetime) -> Iterator[Action]:
    ref = ref_of(cluster)
    yield from _update_actions(snapshot, cluster)
    yield pause_action(ref, cluster)
    shards = sorted(_shards(snapshot, ref), key=shard_label)
    for shard in shards if _is_changeable(ref, cluster) else ():
        yield from _switch(shard, ref)
        yield from _restarts(shard, ref, restart_value(now))
    if shards:
        yield _backup(ref, shards, now)


def _shards(snapshot: Snapshot, cluster: Ref) -> Iterator[Manifest]:
    for shard in snapshot.inventory.manifests(SHARD, cluster.key.namespace):
        if (shard["metadata"].get("labels") or {}).get(CLUSTER_LABEL) == cluster.key.name:
            yield shard


def _is_changeable(ref: Ref, cluster: Manifest) -> bool:
    """A paused operator would carry out a request when it is resumed, long after the reader asked for it."""
    try:
        check_changeable(ref, cluster)
        check_not_paused(ref, cluster)
    except RequestError:
        return False
    return True


def _update_actions(snapshot: Snapshot, cluster: Manifest) -> Iterator[Action]:
    state = cluster_template_state(snapshot, cluster)
    name, namespace = state.ref.key.name, state.ref.key.namespace
    if state.is_waiting:
        yield Action(
            "apply-update",
            "Apply the update",
            f"{message_without_cure(state.message)} {verb_help(apply)}",
            command_line("updates", "apply", name, namespace=namespace),
            state.ref,
            accept_patch(state.version),
        )
    for entry in revision_history(state.revisions):
        if not entry.is_active:
            revision = entry.revision
            yield Action(
                f"rollback {revision.name}",
                f"Roll back to {revision.template} generation {revision.content.generation}",
                verb_help(rollback),
                command_line("updates", "rollback", name, revision.name, namespace=namespace),
                state.ref,
                rollback_patch(state.version, revision.name),
                short="Roll back",
                about=revision.name,
            )


def _switch(shard: Manifest, cluster: Ref) -> Iterator[Action]:
    """Not offered if no other server can take over."""
    try:
        primary = observed_primary(shard)
    except SwitchError:
        return
    label = shard_label(shard)
    yield Action(
        f"switch {label}",
        f"Switch the primary of {label}",
        f"{primary} is the primary now. {verb_help(switchover)}",
        command_line("switchover", cluster.key.name, "--shard", label, namespace=cluster.key.namespace),
        ref_of(shard),
        MergePatch.metadata_at_version(
            shard["metadata"]["resourceVersion"], annotations={SWITCH_FROM: primary}
        ),
        short="Switch the primary",
        about=label,
    )


def _restarts(shard: Manifest, cluster: Ref, value: str) -> Iterator[Action]:
    """One action for each pool that has servers."""
    label = shard_label(shard)
    for pool in sorted(shard["spec"].get("pools") or {}):
        try:
            (restart,) = select_restarts([shard], label, pool, value)
        except RequestError:
            continue
        yield _restart(restart, cluster, label, pool)


def _restart(restart: ServerRestart, cluster: Ref, label: str, pool: str) -> Action:
    effect = restart.describe_effect()
    words = ("restart", cluster.key.name, "--pool", pool, "--shard", label)
    return Action(
        f"restart {label} {pool}",
        f"Restart pool {pool} of {label}",
        f"{effect[0].upper()}{effect[1:]}.",
        command_line(*words, namespace=cluster.key.namespace),
        restart.ref,
        restart.patch(),
        short=f"Restart pool {pool}",
        about=label,
        moment=restart.value,
    )


def _backup(cluster: Ref, shards: list[Manifest], now: datetime) -> Action:
    name, namespace = cluster.key.name, cluster.key.namespace
    specs = [each["spec"] for each in shards]
    paths = [
        ShardPath(name, each["databaseName"], each["tableGroupName"], each["shardName"]) for each in specs
    ]
    return Action(
        "backup",
        "Back up now",
        f"A full backup of {len(paths)} shard{'s' * (len(paths) != 1)}.",
        command_line("backup", name, namespace=namespace),
        cluster,
        creates=tuple(backup_manifests(Request(name, namespace, "full", ""), sorted(paths), now)),
    )
