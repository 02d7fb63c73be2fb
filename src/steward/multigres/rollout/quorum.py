"""Whether a shard keeps its quorum while one of its servers is away. Pure.

A write is acknowledged when the servers that the durability policy asks for have it. Two things must hold for the
members of the cohort that stay reachable:

- they satisfy the policy, so that writes go on;
- they are a majority, and those that are not reachable do not satisfy the policy among themselves. Otherwise a write
  could exist on unreachable servers only, and the data plane appoints no primary any more.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.multigres.rollout.pods import ShardPods
from steward.multigres.servers.assessment import ServerState
from steward.multigres.servers.reports import ServerId


class Cohort(NamedTuple):
    """The members of a shard's cohort whose Postgres is ready, and all others."""

    reachable: frozenset[ServerId]
    unreachable: frozenset[ServerId]

    def without(self, name: str) -> "Cohort":
        """The cohort while this server is away. It stays a member until the data plane drops it."""
        leaving = frozenset(member for member in self.reachable if member.name == name)
        return Cohort(self.reachable - leaving, self.unreachable | leaving)


def cohort_of(pods: ShardPods) -> Cohort:
    members = {_server_id(pods, name) for name in pods.servers.cohort or ()}
    reachable = frozenset(member for member in members if pods.state(member.name) is ServerState.READY)
    return Cohort(reachable, frozenset(members) - reachable)


def _server_id(pods: ShardPods, name: str) -> ServerId:
    # The cell of a member that is gone is unknown: it counts as a cell of its own.
    return pods.server_ids.get(name) or ServerId(pods.server(name).cell or f"the cell of {name}", name)


def keeps_quorum(pods: ShardPods, cohort: Cohort) -> bool:
    policy = pods.servers.policy
    is_majority = len(cohort.reachable) > len(cohort.unreachable)
    return is_majority and policy.is_met_by(cohort.reachable) and not policy.is_met_by(cohort.unreachable)


def describe_unreachable(cohort: Cohort) -> str:
    """Names the members that do not serve; "" if there are none."""
    names = sorted(member.name for member in cohort.unreachable)
    return f": {', '.join(names)} cannot be reached" if names else ""


def first_outsider(pods: ShardPods, names: Iterable[str]) -> str | None:
    """A server that is no member of the cohort. A pod that ends is dropped from the cohort and joins it again when it
    streams: until then the shard is as if the server were away."""
    cohort = pods.servers.cohort or frozenset()
    return next((name for name in sorted(names) if name not in cohort), None)


def can_meet_policy(pods: ShardPods, names: Iterable[str]) -> bool:
    """Whether these servers satisfy the policy if all of them are ready."""
    servers = pods.server_ids
    return pods.servers.policy.is_met_by(servers[name] for name in names if name in servers)
