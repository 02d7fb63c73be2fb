"""The rule of a shard: who leads, who is a member of the cohort, and who must confirm a write. Pure.

A rule changes only while enough members can confirm the change, as in the real data plane. Written without the code of
the operator: the tests of the operator must not compare its rules with themselves.
"""

from collections.abc import Iterable
from typing import NamedTuple


class ServerId(NamedTuple):
    """A Postgres server as the data plane names it."""

    cell: str
    name: str


class DurabilityPolicy(NamedTuple):
    """How many servers, or cells with a server, must have a write before it is acknowledged."""

    required: int = 2
    counts_cells: bool = False

    def is_met_by(self, servers: Iterable[ServerId]) -> bool:
        return len({server.cell if self.counts_cells else server for server in servers}) >= self.required


class ShardRule(NamedTuple):
    """Rules are ordered by their term, which every election increases, and by the changes of the cohort within it."""

    term: int
    subterm: int
    leader: ServerId
    cohort: frozenset[ServerId]
    policy: DurabilityPolicy

    def elect(self, leader: ServerId) -> "ShardRule":
        return self._replace(term=self.term + 1, subterm=0, leader=leader)

    def with_cohort(self, cohort: Iterable[ServerId]) -> "ShardRule":
        members = frozenset(cohort)
        return self if members == self.cohort else self._replace(subterm=self.subterm + 1, cohort=members)


def has_quorum(rule: ShardRule, reachable: Iterable[ServerId]) -> bool:
    """Whether these members may elect a leader: a majority, without which the others cannot acknowledge a write, and
    which can acknowledge one itself."""
    recruited = rule.cohort & frozenset(reachable)
    is_majority = 2 * len(recruited) > len(rule.cohort)
    others_could_write = rule.policy.is_met_by(rule.cohort - recruited)
    return is_majority and not others_could_write and rule.policy.is_met_by(recruited)


def may_drop(rule: ShardRule, member: ServerId) -> bool:
    """Whether the leader accepts a cohort without this member."""
    return member != rule.leader and rule.policy.is_met_by(rule.cohort - {member})


def survives_without(rule: ShardRule, member: ServerId) -> bool:
    """Whether the cohort without this member could still replace its leader."""
    smaller = rule.with_cohort(rule.cohort - {member})
    return member in rule.cohort and has_quorum(smaller, smaller.cohort - {rule.leader})
