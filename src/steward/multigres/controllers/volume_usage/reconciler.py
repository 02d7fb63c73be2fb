"""Asks the Postgres servers of pools with `storage.autogrow` for the size of their data, once a minute.

Postgres itself is asked, because the operator reaches it already. The figures of kubelets would need a right on nodes
(`nodes/proxy`) that allows much more, and the exporter would need another port. The size does not include what other
programs write to a volume, nor the overhead of its file system: the threshold leaves room for both.
"""

import asyncio
from collections.abc import Sequence

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.api.compute import PoolStorage
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import SHARD as KIND
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.intervals import seconds_until_next
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.controllers.postgres_access.user_secrets import UserSecrets
from steward.multigres.controllers.postgres_access.volume_growth import VolumeGrowth
from steward.multigres.metrics import GrowthMetrics
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.objects.pool import CLAIM
from steward.multigres.objects.shard_inputs import shard_inputs, shard_path
from steward.multigres.rollout.autogrow import PoolGrowth, autogrow_rules, decide_growth
from steward.multigres.rollout.volumes import BOUND
from steward.multigres.views import ClaimView, ShardView
from steward.postgres.address import PostgresAddress
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import own_spec
from steward.runtime.controller.triggers import For
from steward.runtime.plan.steps import Emit, EventType
from steward.runtime.reconcile import DONE, RequeueAfter, Result

NAME = "volume-usage"
REST_SECONDS = 60.0


class VolumeUsageReconciler:
    def __init__(self, context: MultigresContext, growth: VolumeGrowth, metrics: GrowthMetrics) -> None:
        self.context = context
        self.growth = growth
        self.metrics = metrics
        self.shards = context.store(context.rules.shard)
        self.claims = context.store(context.rules.claim)
        self.servers = PostgresServers(context)
        self.secrets = UserSecrets(context)

    def controller(self) -> Controller:
        return Controller(NAME, self, (For(self.context.rules.shard, when=own_spec),))

    async def reconcile(self, key: Key) -> Result:
        shard = self.shards.get(key)
        is_asked = shard is not None and shard.metadata.deletion_timestamp is None
        if shard is None or not is_asked or not autogrow_rules(shard.spec):
            self.growth.forget(key)
            return DONE
        if not self.context.paused.includes(Ref(KIND, key)):
            await self._decide(shard)
        return RequeueAfter(seconds_until_next(self.context.clock.monotonic(), REST_SECONDS))

    async def _decide(self, shard: ShardView) -> None:
        claims = self._claims(shard)
        used = await self._used(shard, [claim for claim in claims if claim.status.phase == BOUND])
        pools = or_default(shard.spec.pools, {})
        found = (
            decide_growth(name, or_default(pools[name].storage, PoolStorage()), claims, used)
            for name in autogrow_rules(shard.spec)
        )
        growths = tuple(growth for growth in found if growth is not None)
        for growth in self.growth.record(key_of(shard), growths):
            await self._announce(shard, growth)

    def _claims(self, shard: ShardView) -> list[ClaimView]:
        path = shard_path(shard)
        labels = {
            CLUSTER_LABEL: path.cluster,
            DATABASE_LABEL: path.database,
            TABLE_GROUP_LABEL: path.table_group,
            SHARD_LABEL: path.shard,
        }
        return [
            claim
            for claim in self.claims.list(shard.metadata.namespace)
            if labels.items() <= claim.metadata.labels.items() and claim.metadata.name.startswith(f"{CLAIM}-")
        ]

    async def _used(self, shard: ShardView, claims: Sequence[ClaimView]) -> dict[str, int]:
        """By pod. A server that does not answer is left out: it is asked again a minute later."""
        inputs = shard_inputs(shard)
        secret = Key(shard.metadata.namespace, inputs.password_secret)
        password = await self.secrets.value(secret, inputs.password_key)
        if password is None:
            return {}
        pods = [claim.metadata.name.removeprefix(f"{CLAIM}-") for claim in claims]
        text = password.decode(errors="replace")
        sizes = await asyncio.gather(*(_data_bytes(self.servers.server(shard, pod), text) for pod in pods))
        return {pod: size for pod, size in zip(pods, sizes, strict=True) if size is not None}

    async def _announce(self, shard: ShardView, growth: PoolGrowth) -> None:
        ref = Ref(KIND, key_of(shard))
        if growth.is_limited:
            event = Emit(ref, reasons.VOLUMES_AT_MAXIMUM, growth.message, EventType.WARNING)
        else:
            self.metrics.count(shard.metadata.namespace)
            event = Emit(ref, reasons.VOLUMES_GROWING, growth.message)
        await self.context.executor.execute((event,), ref)


async def _data_bytes(server: PostgresAddress, password: str) -> int | None:
    # Imported on first use: the driver costs memory, and most clusters have no such pool.
    from steward.postgres import data_size
    from steward.postgres.sessions import PostgresFailure

    try:
        return await data_size.data_bytes(server, password)
    except PostgresFailure:
        return None
