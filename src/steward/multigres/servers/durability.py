"""Durability policies: how many servers, or cells with a server, must have a write before it is acknowledged. Pure."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from steward.multigres.servers.reports import ServerId, ShardRule


class DurabilityPolicy(NamedTuple):
    required: int
    counts_cells: bool

    def is_met_by(self, members: Iterable[ServerId]) -> bool:
        """Whether these servers suffice to acknowledge a write."""
        return self.count(members) >= self.required

    def count(self, members: Iterable[ServerId]) -> int:
        """How many of the units that the policy counts there are among these servers."""
        return len({member.cell if self.counts_cells else member for member in members})

    def can_elect(self, cohort: Collection[ServerId], running: Collection[ServerId]) -> bool:
        """Whether the running members of a cohort can elect a primary: a majority of it, and all but so few that those
        could not have acknowledged a write among themselves."""
        missing = [member for member in cohort if member not in running]
        return 2 * len(missing) < len(cohort) and not self.is_met_by(missing)

    def describe(self) -> str:
        return f"servers in {self.required} cells" if self.counts_cells else f"{self.required} servers"


AT_LEAST_2 = "AT_LEAST_2"
POLICIES = {
    AT_LEAST_2: DurabilityPolicy(2, counts_cells=False),
    "MULTI_CELL_AT_LEAST_2": DurabilityPolicy(2, counts_cells=True),
}


def durability_policy(name: str, rule: ShardRule | None = None) -> DurabilityPolicy:
    """The policy that is in force: that of the shard's rule or, before the shard has one, the one in its spec."""
    if rule is not None and rule.required:
        return DurabilityPolicy(rule.required, rule.counts_cells)
    return POLICIES.get(name, POLICIES[AT_LEAST_2])
