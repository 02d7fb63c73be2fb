"""Shard: keeps orchestrators, pools and what they share, and says whether they serve."""

from typing import NamedTuple

from msgspec import UNSET

from steward.kube.cache.hashed_views import Hashed
from steward.kube.objects.conditions import TRUE, Condition
from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Manifest, Ref, ref_of
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.cache_rules import SHARD as KIND
from steward.multigres.controllers.common.child_triggers import PODS, owned
from steward.multigres.controllers.common.context import ControllerContext, stall_of
from steward.multigres.controllers.common.volumes import Around, VolumeKeeper, Volumes
from steward.multigres.controllers.shard.deletion import Retiring, ShardRemoval
from steward.multigres.controllers.shard.pod_rollout import Rolling, RollingChanges
from steward.multigres.deletion.annotations import STEERING, held
from steward.multigres.names import ShardPath
from steward.multigres.objects import backup, orchestrator, pool, shard_parts
from steward.multigres.objects.metadata import (
    CLUSTER,
    COMPONENT,
    DATABASE,
    SHARD,
    TABLE_GROUP,
    Owner,
)
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.rollout.claim_retention import GRACE
from steward.multigres.rollout.pods import UP_TO_DATE
from steward.multigres.status.conditions import (
    SCALE_DOWN_PENDING,
    Look,
    Piece,
    Report,
    Stall,
    assess,
    certificates_piece,
    common_status,
    workload_piece,
)
from steward.multigres.status.events import news
from steward.multigres.views import ClusterView, PodView, ShardView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import annotations, chosen, own_object
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.plan.executor import WRITES, PlanResult
from steward.runtime.plan.steps import Plan, about
from steward.runtime.reconcile import DONE, Result

OF_SHARD = "shard"
CONFIG_USERS = "config users"
PASSWORD_KEY = "password"


class Change(NamedTuple):
    """What pods and volumes go through on the way to what is wanted."""

    rolling: Rolling
    volumes: Volumes
    retiring: Retiring = Retiring()

    def own_conditions(self, generation: int) -> list[Condition]:
        return [
            self.volumes.condition(generation),
            *self.rolling.conditions(generation),
            *self._held(generation),
        ]

    def _held(self, generation: int) -> list[Condition]:
        """A pool that must wait before it goes; one that shrinks has the word before it."""
        held = self.retiring.held
        if held is None or self.rolling.held is not None:
            return []
        return [Condition(SCALE_DOWN_PENDING, TRUE, held.reason, held.told, generation)]

    def conditions(self, generation: int) -> list[Condition]:
        return [*self.own_conditions(generation), *self.retiring.conditions]

    def pieces(self) -> list[Piece]:
        held = self.retiring.held
        waiting = [] if held is None else [Piece("fewer pools", 1, 1, False, hint=held.told)]
        return [*self.volumes.pieces(), *self.rolling.pieces(), *waiting]


class ShardReconciler:
    def __init__(self, context: ControllerContext) -> None:
        rules = context.rules
        self.context = context
        self.removal = ShardRemoval(context)
        self.shards = context.store(rules.shard)
        self.shards.add_index(CONFIG_USERS, _config_used)
        self.deployments = context.store(rules.deployment)
        self.sets = context.store(rules.stateful_set)
        self.config_maps = context.store(rules.config_map)
        self.claims = context.store(rules.claim)
        self.claims.add_index(OF_SHARD, lambda claim: [str(key) for key in _shard_of(claim)])
        self.pods = context.store(rules.pod)
        self.pods.add_index(OF_SHARD, lambda pod: [str(key) for key in _shard_of(pod)])
        self.rolling = RollingChanges(context)
        self.volumes = VolumeKeeper(context)
        # Secrets are left out: those of a shard are its certificates, which are kept elsewhere.
        self.kept = rules.of_objects()
        for rule in self.kept:
            context.store(rule)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "shard",
            self,
            (
                For(rules.shard, when=own_object(GRACE, *STEERING)),
                *owned(self.kept),
                Watches(rules.pod, to=_shard_of, patience=PODS),
                Watches(rules.claim, to=_shard_of, patience=PODS),
                Watches(rules.cluster, to=self._shards_of, when=annotations(GRACE, *STEERING)),
                Watches(rules.config_map, to=self._users_of),
                Watches(rules.shard, to=lambda shard: [key_of(shard)], when=chosen(_certificates)),
            ),
            channel=self.context.remarks.channel(KIND),
        )

    def _users_of(self, config_map: Hashed) -> list[Key]:
        meta = config_map.metadata
        users = self.shards.by_index(CONFIG_USERS, str(Key(meta.namespace, meta.name)))
        return [Key(user.metadata.namespace, user.metadata.name) for user in users]

    def _shards_of(self, cluster: ClusterView) -> list[Key]:
        meta = cluster.metadata
        beside = self.shards.list(meta.namespace)
        return [
            Key(meta.namespace, s.metadata.name)
            for s in beside
            if s.metadata.labels.get(CLUSTER) == meta.name
        ]

    async def reconcile(self, key: Key) -> Result:
        shard = self.shards.get(key)
        if shard is None or shard.metadata.deletion_timestamp is not None:
            self.rolling.forget(key)
            return DONE if shard is None else await self._leave(shard)
        build = shard_build(shard, self._config_digest(shard))
        desired = self.context.drafts.of(Ref(KIND, key), build, lambda: shard_objects(build))
        strangers = await self.context.strangers(desired)
        if strangers:
            still = Change(Rolling(desired, UP_TO_DATE), Volumes(desired))
            told = self.context.report(Ref(KIND, key), shard, self._status(shard, still, stall_of(strangers)))
            return (await self.context.executor.execute(told, Ref(KIND, key))).result
        return await self._carry_out(shard, await self._change(shard, desired))

    async def _change(self, shard: ShardView, desired: list[Manifest]) -> Change:
        key = str(Key(shard.metadata.namespace, shard.metadata.name))
        pods = [pod for pod in self.pods.by_index(OF_SHARD, key) if _is_server(pod)]
        rolling = self.rolling.look(shard, desired, pods)
        around = Around(shard.metadata, self.claims.by_index(OF_SHARD, key), pods)
        surplus = self.context.surplus(shard.metadata, desired, self.kept)
        retiring = self.removal.retire(shard, surplus, self.pods.by_index(OF_SHARD, key), rolling.succession)
        if rolling.must_know or retiring.held is not None:
            self.rolling.ask(shard, pods)
        return Change(rolling, await self.volumes.settle(rolling.desired, around), retiring)

    async def _carry_out(self, shard: ShardView, change: Change) -> Result:
        meta = shard.metadata
        ref = Ref(KIND, Key(meta.namespace, meta.name))
        kept = change.volumes.around((*self._put(change.volumes.desired), *change.retiring.steps))
        outcome = await self.context.executor.execute((*held(ref, meta), *kept), ref)
        # Which pods are outdated is known anew once the set's controller has seen the change.
        rolling = () if _changed_a_set(outcome) else change.rolling.steps(meta.namespace)
        # What was just applied is already in the caches: no status calls it ready before it is.
        told = self.context.report(ref, shard, self._status(shard, change, None))
        events = news(ref, shard.status.conditions, change.own_conditions(meta.generation))
        reported = await self.context.executor.execute((*told, *events, *rolling), ref)
        self.rolling.remember(ref.key, reported.forbidden)
        return PlanResult([*outcome.carried, *reported.carried]).result

    def _put(self, desired: list[Manifest]) -> Plan:
        return (*self.removal.revived(map(ref_of, desired)), *self.context.put(desired))

    async def _leave(self, shard: ShardView) -> Result:
        ref = Ref(KIND, Key(shard.metadata.namespace, shard.metadata.name))
        plan = await self.removal.leave(shard, self.pods.by_index(OF_SHARD, str(ref.key)))
        return await self.removal.farewell.execute(plan, ref)

    def _config_digest(self, shard: ShardView) -> str:
        reference = shard.spec.postgres_config_ref
        if reference is UNSET:
            return ""
        seen = self.config_maps.get(Key(shard.metadata.namespace, reference.name))
        return "" if seen is None else seen.data_hash

    def _status(self, shard: ShardView, change: Change, stall: Stall | None) -> Manifest:
        desired = change.volumes.desired
        pods = self.pods.by_index(OF_SHARD, str(Key(shard.metadata.namespace, shard.metadata.name)))
        claims = self.claims.by_index(OF_SHARD, str(Key(shard.metadata.namespace, shard.metadata.name)))
        look = self.context.look(pods, claims)
        orchestrators = self._pieces(desired, DEPLOYMENT.kind, "orchestrators")
        pools = self._pieces(desired, STATEFUL_SET.kind, "pool")
        certificates = certificates_piece(shard.status.conditions)
        going = self.context.going(desired)
        pieces = [*going, *_with_look([*pools, *orchestrators], look), *change.pieces(), *certificates]
        report = Report(shard.metadata, shard.status.conditions, self.context.now())
        return {
            **common_status(report, assess(pieces, stall), change.conditions(shard.metadata.generation)),
            "cells": pool.pools_by_cell(given(shard.spec.pools, {})),
            "orchReady": all(piece.is_ready for piece in orchestrators),
            "poolsReady": all(piece.is_ready for piece in pools),
            "replicas": sum(piece.desired for piece in pools),
            "readyReplicas": sum(piece.ready for piece in pools),
            "retainedClaims": list(change.volumes.retained),
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


def shard_build(shard: ShardView, config_digest: str = "") -> ShardBuild:
    meta = shard.metadata
    secret, key = _password(shard)
    return ShardBuild(
        owner=Owner("Shard", meta.namespace, meta.name, meta.uid),
        path=shard_path(shard),
        spec=shard.spec,
        password_secret=secret,
        password_key=key,
        certificates=certificate_secret(shard),
        config_digest=config_digest,
        certificate_renewals=_renewals(shard),
    )


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


def _certificates(shard: ShardView) -> tuple[int, list[Piece]]:
    """What the keeper of the certificates reports, and concerns the pods or the verdict over them."""
    return _renewals(shard), certificates_piece(shard.status.conditions)


def _renewals(shard: ShardView) -> int:
    return given(shard.status.backup_certificate_renewals, 0)


def _with_look(pieces: list[Piece], look: Look) -> list[Piece]:
    """Lays what the shard's pods tell onto the first piece that is not ready."""
    unready = next((piece for piece in pieces if not piece.is_ready), None)
    return [
        piece._replace(trouble=look.trouble, hint=look.hint) if piece is unready else piece
        for piece in pieces
    ]


def _is_server(pod: PodView) -> bool:
    return pod.metadata.labels.get(COMPONENT) == pool.COMPONENT


def _changed_a_set(outcome: PlanResult) -> bool:
    written = (about(carried.step) for carried in outcome.carried if carried.effect in WRITES)
    return any(ref is not None and ref.kind == STATEFUL_SET for ref in written)


def _shard_of(seen: HasMetadata) -> list[Key]:
    """The Shard that a pod or claim belongs to. Its name follows from the labels, so that no lookup is needed."""
    labels = seen.metadata.labels
    parts = [labels.get(label, "") for label in (CLUSTER, DATABASE, TABLE_GROUP, SHARD)]
    if not all(parts):
        return []
    return [Key(seen.metadata.namespace, names.shard(ShardPath(*parts)))]


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
    backup_ = given(shard.spec.backup, defaults.BACKUP)
    if backup_.pgbackrest_tls is UNSET:
        return f"{shard.metadata.name}-pgbackrest-tls"
    return backup_.pgbackrest_tls.secret_name
