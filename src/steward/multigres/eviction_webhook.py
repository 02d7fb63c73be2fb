"""Reviews evictions of server pods: a node is drained without a failed write.

`kubectl drain` evicts pods, and repeats an eviction that is denied with 429. The eviction of a primary that another
server can replace is denied once: the Shard controller switches the primary, and the next try finds a standby, whose
eviction the shard's disruption budget limits. Everything else passes: the webhook must never hold up a drain that no
switch can help. Nodes are not watched: a namespaced installation has no right to do so.
"""

from steward.admission.review import AdmissionResponse, Allowed, Denied, Operation, Review
from steward.admission.server import Webhook
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.objects.conditions import is_true
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.patches import MergePatch
from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import SHARD
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.objects.pool import COMPONENT
from steward.multigres.rollout.node_drain import SWITCH_FROM, blocks_eviction, is_only_server
from steward.multigres.rollout.restarts import FORCE_ROLLOUT, is_rollout_forced
from steward.multigres.status.conditions import ROLLING_UPDATE, read_conditions
from steward.multigres.status.pause import is_paused
from steward.multigres.views import ClusterView, PodView, ShardView

TOO_MANY_REQUESTS = 429
PATH_LABELS = (CLUSTER_LABEL, DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)


class EvictionWebhook:
    """Writes with the client of every replica: webhooks are also served by replicas that do not lead."""

    def __init__(
        self,
        client: Client,
        pods: Store[PodView],
        shards: Store[ShardView],
        clusters: Store[ClusterView],
    ) -> None:
        self._client = client
        self._pods = pods
        self._shards = shards
        self._clusters = clusters

    def webhooks(self) -> list[Webhook]:
        return [Webhook("/validate-v1-pod-eviction", self.review, kind="Eviction")]

    async def review(self, review: Review) -> AdmissionResponse:
        if review.operation is not Operation.CREATE or review.subresource != "eviction":
            return Allowed()
        pod = self._pods.get(Key(review.namespace, review.name))
        shard = None if pod is None else self._shard(pod)
        if shard is None or self._is_exempt(shard):
            return Allowed()
        servers = or_default(shard.status.servers, [])
        if blocks_eviction(servers, review.name):
            await self._annotate(shard, review)
            return _denied(shard, review.name)
        # The operator's own rollout announces the restart of an only server itself.
        if not is_only_server(servers, review.name) or _is_rolling(shard):
            return Allowed()
        await self._annotate(shard, review)
        message = f"pod {review.name} is the only server of its shard: nothing serves until it is ready again"
        return Allowed(warnings=(message,))

    def _shard(self, pod: PodView) -> ShardView | None:
        labels = pod.metadata.labels
        if labels.get(COMPONENT_LABEL) != COMPONENT or pod.metadata.deletion_timestamp is not None:
            return None
        name = names.shard(ShardPath(*(labels.get(label, "") for label in PATH_LABELS)))
        return self._shards.get(Key(pod.metadata.namespace, name))

    def _is_exempt(self, shard: ShardView) -> bool:
        """Forced, or without a switch that could be waited for: nothing is done for a paused cluster."""
        meta = shard.metadata
        cluster = self._clusters.get(Key(meta.namespace, meta.labels.get(CLUSTER_LABEL, "")))
        inherited = {} if cluster is None else cluster.metadata.annotations
        if meta.deletion_timestamp is not None or (cluster is not None and is_paused(cluster)):
            return True
        return is_rollout_forced(meta.annotations, inherited)

    async def _annotate(self, shard: ShardView, review: Review) -> None:
        """Names the pod that is to be evicted on the Shard, for its controller."""
        meta = shard.metadata
        if review.dry_run or meta.annotations.get(SWITCH_FROM) == review.name:
            return
        change = {"metadata": {"uid": meta.uid, "annotations": {SWITCH_FROM: review.name}}}
        await self._client.patch(Ref(SHARD, Key(meta.namespace, meta.name)), MergePatch(change))


def _denied(shard: ShardView, pod: str) -> Denied:
    message = (
        f"pod {pod} is the primary of Shard {shard.metadata.name}, and another server takes over first: repeat the"
        f' eviction in a few seconds, or evict it at once with {FORCE_ROLLOUT}: "true" on the Shard'
    )
    return Denied(message, TOO_MANY_REQUESTS, "TooManyRequests")


def _is_rolling(shard: ShardView) -> bool:
    return is_true(read_conditions(shard.status.conditions), ROLLING_UPDATE)
