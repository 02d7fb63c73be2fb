"""Shard: keeps orchestrators, pools and what they share, and says whether they serve."""

from msgspec import UNSET

from steward.kube.hashed import Hashed
from steward.kube.kinds import DEPLOYMENT, STATEFUL_SET, Key, Manifest, Ref
from steward.multigres import constants, names
from steward.multigres.controllers.ground import Ground, stall_of
from steward.multigres.layers import given
from steward.multigres.names import ShardPath
from steward.multigres.objects import backup, orchestrator, pool, shard_parts
from steward.multigres.objects.metadata import (
    CLUSTER,
    DATABASE,
    SHARD,
    TABLE_GROUP,
    Owner,
)
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.rules import SHARD as KIND
from steward.multigres.status import Look, Piece, Report, Stall, assess, common_status, workload_piece
from steward.multigres.views import PodView, ShardView
from steward.runtime.controller import Controller
from steward.runtime.reconcile import DONE, Result
from steward.runtime.triggers import For, Owns, Watches

PODS_OF_SHARD = "shard"
CONFIG_USERS = "config users"
PASSWORD_KEY = "password"


class ShardReconciler:
    def __init__(self, ground: Ground) -> None:
        rules = ground.rules
        self.ground = ground
        self.shards = ground.store(rules.shard)
        self.shards.add_index(CONFIG_USERS, _config_used)
        self.deployments = ground.store(rules.deployment)
        self.sets = ground.store(rules.stateful_set)
        self.config_maps = ground.store(rules.config_map)
        self.claims = ground.store(rules.claim)
        self.pods = ground.store(rules.pod)
        self.pods.add_index(PODS_OF_SHARD, lambda pod: [str(key) for key in _shard_of(pod)])
        # Secrets are left out: those of a shard are its certificates, which are kept elsewhere.
        self.kept = rules.of_objects()
        for rule in self.kept:
            ground.store(rule)

    def controller(self) -> Controller:
        rules = self.ground.rules
        return Controller(
            "shard",
            self,
            (
                For(rules.shard),
                *(Owns(rule) for rule in self.kept),
                Watches(rules.pod, to=_shard_of),
                Watches(rules.config_map, to=self._users_of),
            ),
        )

    def _users_of(self, config_map: Hashed) -> list[Key]:
        meta = config_map.metadata
        users = self.shards.by_index(CONFIG_USERS, str(Key(meta.namespace, meta.name)))
        return [Key(user.metadata.namespace, user.metadata.name) for user in users]

    async def reconcile(self, key: Key) -> Result:
        shard = self.shards.get(key)
        if shard is None or shard.metadata.deletion_timestamp is not None:
            return DONE
        desired = shard_objects(self._build(shard))
        strangers = await self.ground.strangers(desired)
        kept = () if strangers else self.ground.keep(shard.metadata, desired, self.kept)
        told = self.ground.report(Ref(KIND, key), shard, self._status(shard, desired, stall_of(strangers)))
        outcome = await self.ground.carrier.carry_out((*kept, *told), Ref(KIND, key))
        return outcome.result

    def _build(self, shard: ShardView) -> ShardBuild:
        meta = shard.metadata
        secret, key = _password(shard)
        return ShardBuild(
            owner=Owner("Shard", meta.namespace, meta.name, meta.uid),
            path=shard_path(shard),
            spec=shard.spec,
            password_secret=secret,
            password_key=key,
            certificates=certificate_secret(shard),
            config_digest=self._config_digest(shard),
        )

    def _config_digest(self, shard: ShardView) -> str:
        reference = shard.spec.postgres_config_ref
        if reference is UNSET:
            return ""
        seen = self.config_maps.get(Key(shard.metadata.namespace, reference.name))
        return "" if seen is None else seen.data_hash

    def _status(self, shard: ShardView, desired: list[Manifest], stall: Stall | None) -> Manifest:
        pods = self.pods.by_index(PODS_OF_SHARD, str(Key(shard.metadata.namespace, shard.metadata.name)))
        look = self.ground.look(pods)
        orchestrators = self._pieces(desired, DEPLOYMENT.kind, "orchestrators")
        pools = self._pieces(desired, STATEFUL_SET.kind, "pool")
        pieces = _with_look([*pools, *orchestrators], look)
        report = Report(shard.metadata, shard.status.conditions, self.ground.now())
        return {
            **common_status(report, assess(pieces, stall)),
            "cells": pool.pools_by_cell(given(shard.spec.pools, {})),
            "orchReady": all(piece.is_ready for piece in orchestrators),
            "poolsReady": all(piece.is_ready for piece in pools),
            "replicas": sum(piece.desired for piece in pools),
            "readyReplicas": sum(piece.ready for piece in pools),
        }

    def _pieces(self, desired: list[Manifest], kind: str, what: str) -> list[Piece]:
        store = self.deployments if kind == DEPLOYMENT.kind else self.sets
        pieces = []
        for manifest in desired:
            if manifest["kind"] == kind:
                meta = manifest["metadata"]
                seen = store.get(Key(meta["namespace"], meta["name"]))
                pieces.append(workload_piece(f"{what} {meta['name']}", manifest["spec"]["replicas"], seen))
        return pieces


def shard_objects(build: ShardBuild) -> list[Manifest]:
    """Everything below a Shard but its Secrets."""
    cells = pool.pools_by_cell(given(build.spec.pools, {}))
    return [
        *shard_parts.config_maps(build),
        *backup.backup_claims(build, cells),
        *orchestrator.orchestrator_objects(build),
        *pool.pool_objects(build),
        shard_parts.disruption_budget(build),
    ]


def shard_path(shard: ShardView) -> ShardPath:
    labels = shard.metadata.labels
    return ShardPath(
        labels.get(CLUSTER, ""),
        given(shard.spec.database_name, labels.get(DATABASE, "")),
        given(shard.spec.table_group_name, labels.get(TABLE_GROUP, "")),
        shard.spec.shard_name,
    )


def _with_look(pieces: list[Piece], look: Look) -> list[Piece]:
    """Lays what the shard's pods tell onto the first piece that is not ready."""
    unready = next((piece for piece in pieces if not piece.is_ready), None)
    return [
        piece._replace(trouble=look.trouble, hint=look.hint) if piece is unready else piece
        for piece in pieces
    ]


def _shard_of(pod: PodView) -> list[Key]:
    """The Shard that a pod belongs to. Its name follows from the pod's labels, so that no lookup is needed."""
    labels = pod.metadata.labels
    parts = [labels.get(label, "") for label in (CLUSTER, DATABASE, TABLE_GROUP, SHARD)]
    if not all(parts):
        return []
    return [Key(pod.metadata.namespace, names.shard(ShardPath(*parts)))]


def _config_used(shard: ShardView) -> list[str]:
    reference = shard.spec.postgres_config_ref
    return [] if reference is UNSET else [str(Key(shard.metadata.namespace, reference.name))]


def _password(shard: ShardView) -> tuple[str, str]:
    """The Secret and the key in it: the cluster's own, unless its owner brought one."""
    reference = shard.spec.postgres_password_secret_ref
    if reference is UNSET:
        return names.password_secret(shard.metadata.labels.get(CLUSTER, "")), PASSWORD_KEY
    return reference.name, given(reference.key, PASSWORD_KEY)


def certificate_secret(shard: ShardView) -> str:
    """The Secret with ca.crt, tls.crt and tls.key: the user's own, else ours."""
    backup_ = given(shard.spec.backup, constants.BACKUP)
    if backup_.pgbackrest_tls is UNSET:
        return f"{shard.metadata.name}-pgbackrest-tls"
    return backup_.pgbackrest_tls.secret_name
