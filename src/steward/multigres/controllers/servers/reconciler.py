"""Observes the Postgres servers of each shard and records what it sees in `context.servers`. It writes nothing.

The topology controller reads the records of all poolers; this controller adds what multiadmin reports about each. A
shard whose servers are as they should be is checked at the same times as all others, so that the process sleeps in
between; one that starts, changes or is broken more often, and for a lasting failure less often again.
"""

from collections.abc import Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.intervals import seconds_until_next
from steward.multigres.controllers.common.primaries import PrimaryObservation
from steward.multigres.controllers.common.servers import multiadmin_address
from steward.multigres.controllers.servers.reading import Answers, read_reports
from steward.multigres.names import ShardPath
from steward.multigres.objects import multiadmin, pool
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.servers.assessment import Server, ServerPod, ServerState, assess_servers
from steward.multigres.servers.durability import AT_LEAST_2
from steward.multigres.servers.pods import server_pods
from steward.multigres.servers.records import records_by_pod
from steward.multigres.servers.reports import ServerId, ShardObservation
from steward.multigres.topology.store_records import find_primary
from steward.multigres.views import PodView, ShardView, WorkloadView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import own_spec, selected_fields
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.controller.workqueue import Backoff
from steward.runtime.reconcile import DONE, RequeueAfter, Result

REST_SECONDS = 30.0
CHANGE_SECONDS = 2.0
EARLY_SECONDS = 0.5
"""How often servers are checked that changed less than `EARLY_FOR_SECONDS` ago: one that has started joins soon, and
elections take seconds."""
FIRST_SECONDS = 0.1
"""When they are checked first after the last pod has become ready; the pause doubles until it is `EARLY_SECONDS`. Until
then the next pod triggers a check. From the last ready pod of a new cluster to Healthy it takes 0.3 s; with a check
every half second it took 1.1 s (medians of six, on a busy machine)."""
EARLY_FOR_SECONDS = 6.0
REQUEST_SECONDS = 1.0
LASTING_SECONDS = 10.0
"""How often servers are checked that have been broken for `LASTING_AFTER_SECONDS`."""
LASTING_AFTER_SECONDS = 120.0
UNREACHABLE = Backoff(first=CHANGE_SECONDS, cap=REST_SECONDS, jitter=0.0)
SERVERS = "servers"
SHARD_PATH_LABELS = (CLUSTER_LABEL, DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)


class ServersReconciler:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self.context = context
        self.shards = context.store(rules.shard)
        self.pods = context.store(rules.pod)
        self.pods.add_index(SERVERS, lambda pod: [str(key) for key in _shard_of(pod)])
        self.deployments = context.store(rules.deployment)
        self._failures: dict[Key, int] = {}

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "servers",
            self,
            (
                For(rules.shard, when=own_spec),
                Watches(rules.pod, to=_shard_of, when=selected_fields(_readiness)),
                Watches(rules.deployment, to=self._shards_of, when=selected_fields(_ready_pods)),
            ),
            channel=self.context.servers.check_requests,
        )

    def _shards_of(self, deployment: WorkloadView) -> list[Key]:
        labels = deployment.metadata.labels
        if labels.get(COMPONENT_LABEL) != multiadmin.COMPONENT:
            return []
        shards = self.shards.list(deployment.metadata.namespace)
        cluster = labels.get(CLUSTER_LABEL, "")
        return [key_of(shard) for shard in shards if shard.metadata.labels.get(CLUSTER_LABEL) == cluster]

    async def reconcile(self, key: Key) -> Result:
        shard = self.shards.get(key)
        if shard is None or shard.metadata.deletion_timestamp is not None:
            self.context.servers.forget(key)
            self._failures.pop(key, None)
            return DONE
        pods = server_pods(shard, self.pods.by_index(SERVERS, str(key)))
        existing = [pod for pod in pods if pod.exists]
        observation = await self._observe(shard, existing)
        ready = [pod.name for pod in existing if pod.is_ready and not pod.is_terminating]
        self.context.servers.record(key, observation, ready)
        if not existing:
            return DONE
        return RequeueAfter(self._pause(shard, pods, observation))

    async def _observe(self, shard: ShardView, pods: Sequence[ServerPod]) -> ShardObservation:
        began, registered = self.context.clock.monotonic(), self._registered(shard)
        records, at = None, began
        if registered is not None:
            records = records_by_pod(list(registered.poolers), [pod.name for pod in pods])
            at = min(began, registered.at)
        asked = [pod for pod in pods if not pod.is_terminating and (records is None or pod.name in records)]
        answers = await self._read_reports(shard, [ServerId(pod.cell, pod.name) for pod in asked])
        self._count_failures(key_of(shard), answers)
        return ShardObservation(at, records, *answers)

    def _registered(self, shard: ShardView) -> PrimaryObservation | None:
        """The records that the topology controller read last, None if the topology server did not answer."""
        key, primaries = key_of(shard), self.context.primaries
        last = primaries.last(key)
        requested = self.context.servers.requested_since(key)
        if requested is not None and (last is None or last.at < requested):
            primaries.request_check(key, shard.metadata.labels.get(CLUSTER_LABEL, ""), requested)
        return last if last is not None and last.is_answered else None

    async def _read_reports(self, shard: ShardView, servers: Sequence[ServerId]) -> Answers:
        namespace, cluster = shard.metadata.namespace, shard.metadata.labels.get(CLUSTER_LABEL, "")
        name = names.multiadmin(cluster)
        deployment = self.deployments.get(Key(namespace, name))
        if servers and (deployment is None or not deployment.status.ready_replicas):
            is_stopped = deployment is not None and not deployment.spec.replicas
            cause = "has 0 replicas" if is_stopped else "has no ready pod"
            return Answers({}, {}, f"Deployment {name} {cause}")
        return await read_reports(self.context.multiadmin.at(multiadmin_address(namespace, cluster)), servers)

    def _count_failures(self, shard: Key, answers: Answers) -> None:
        if answers.unreachable:
            self._failures[shard] = self._failures.get(shard, 0) + 1
        else:
            self._failures.pop(shard, None)

    def _pause(self, shard: ShardView, pods: Sequence[ServerPod], observation: ShardObservation) -> float:
        key, servers = key_of(shard), self.context.servers
        if failures := self._failures.get(key, 0):
            delay = UNREACHABLE.delay(failures, 0.0)
            return delay if delay < REST_SECONDS else self._until_next(REST_SECONDS)
        policy = or_default(shard.spec.durability_policy, AT_LEAST_2)
        state = assess_servers(pods, observation, policy)
        servers.record_writable(key, (state.primary or "") if state.takes_writes else "")
        if servers.requested_since(key) is not None:
            return REQUEST_SECONDS
        if state.takes_writes and all(_is_settled(server) for server in state.servers):
            return self._until_next(REST_SECONDS)
        unchanged = servers.unchanged_seconds(key)
        if unchanged < EARLY_FOR_SECONDS:
            return self._check_early(shard, pods, unchanged)
        if self._is_record_outdated(key, state.primary):
            self._request_records(shard)
        return self._until_next(LASTING_SECONDS) if unchanged >= LASTING_AFTER_SECONDS else CHANGE_SECONDS

    def _check_early(self, shard: ShardView, pods: Sequence[ServerPod], unchanged: float) -> float:
        """Pods that are not ready trigger a check when they are; after the last one the records are what is awaited."""
        if not all(pod.is_ready for pod in pods):
            self._request_records(shard)
            return EARLY_SECONDS
        self._request_records(shard, since=self.context.clock.monotonic() - FIRST_SECONDS / 2)
        return min(EARLY_SECONDS, max(FIRST_SECONDS, unchanged))

    def _request_records(self, shard: ShardView, since: float = float("-inf")) -> None:
        cluster = shard.metadata.labels.get(CLUSTER_LABEL, "")
        self.context.primaries.request_check(key_of(shard), cluster, since)

    def _is_record_outdated(self, shard: Key, primary: str | None) -> bool:
        """After an election the records may be older than the reports."""
        last = self.context.primaries.last(shard)
        record = None if last is None else find_primary(list(last.poolers))
        return primary is not None and (record is None or not record.belongs_to_pod(primary))

    def _until_next(self, period: float) -> float:
        return seconds_until_next(self.context.clock.monotonic(), period)


class _Readiness(NamedTuple):
    uid: str
    is_ready: bool
    is_terminating: bool


def _readiness(pod: PodView) -> _Readiness:
    is_ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    return _Readiness(pod.metadata.uid, is_ready, pod.metadata.deletion_timestamp is not None)


def _ready_pods(deployment: WorkloadView) -> int:
    return deployment.status.ready_replicas


def _is_settled(server: Server) -> bool:
    return server.is_desired and server.state is ServerState.READY


def _shard_of(pod: HasMetadata) -> list[Key]:
    """The Shard of a server's pod. Its name follows from the pod's labels, so that no lookup is needed."""
    labels = pod.metadata.labels
    path = [labels.get(label, "") for label in SHARD_PATH_LABELS]
    if labels.get(COMPONENT_LABEL) != pool.COMPONENT or not all(path):
        return []
    return [Key(pod.metadata.namespace, names.shard(ShardPath(*path)))]
