"""Collects the inputs of `status.servers` for one shard: its pods, what was observed of them, and its last status."""

from collections.abc import Sequence
from typing import NamedTuple

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Manifest
from steward.kube.objects.meta import key_of
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.repository_claims import RepositoryClaims
from steward.multigres.servers.assessment import ShardServers, assess_servers
from steward.multigres.servers.durability import AT_LEAST_2
from steward.multigres.servers.grace import with_known_states
from steward.multigres.servers.pods import server_pods
from steward.multigres.status.conditions import ComponentStatus
from steward.multigres.status.servers import (
    ServersSummary,
    StateTimes,
    known_servers,
    no_primary_cure,
    server_statuses,
    servers_component,
    state_times,
    summarize_servers,
)
from steward.multigres.views import PodView, ShardView


class ReportedServers(NamedTuple):
    """The servers of a shard as its status reports them."""

    servers: ShardServers
    summary: ServersSummary
    times: StateTimes

    def component(self) -> ComponentStatus:
        return servers_component(self.servers, self.summary)

    def condition(self, generation: int) -> Condition:
        return self.summary.condition(generation)

    def fields(self) -> Manifest:
        primary = {"primary": self.servers.primary} if self.servers.primary else {}
        return {**primary, "servers": server_statuses(self.servers, self.times)}


class ServerStates:
    def __init__(self, context: MultigresContext) -> None:
        self._context = context
        self._repositories = RepositoryClaims(context)

    def assess(self, shard: ShardView, pods: Sequence[PodView]) -> ReportedServers:
        key, memory, status = key_of(shard), self._context.servers, shard.status
        policy = or_default(shard.spec.durability_policy, AT_LEAST_2)
        current = assess_servers(server_pods(shard, pods), memory.get(key), policy)
        servers = with_known_states(
            current, known_servers(status), lambda pod: memory.unknown_seconds(key, pod)
        )
        times = state_times(status, servers, self._context.clock.now())
        cure = no_primary_cure(self._repositories.inputs(shard))
        return ReportedServers(servers, summarize_servers(servers, times, cure), times)
