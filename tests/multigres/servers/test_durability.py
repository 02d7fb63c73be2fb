"""Which servers suffice for a write, and which for an election."""

import pytest

from steward.multigres.servers.durability import POLICIES, DurabilityPolicy, durability_policy
from steward.multigres.servers.reports import ServerId, ShardRule

TWO, TWO_CELLS = POLICIES["AT_LEAST_2"], POLICIES["MULTI_CELL_AT_LEAST_2"]


def servers(*cells: str) -> list[ServerId]:
    return [ServerId(cell, f"pg-{number}") for number, cell in enumerate(cells)]


@pytest.mark.parametrize(
    ("policy", "cells", "is_met"),
    [(TWO, "a", False), (TWO, "aa", True), (TWO_CELLS, "aa", False), (TWO_CELLS, "ab", True)],
)
def test_policy_counts_servers_or_cells(policy: DurabilityPolicy, cells: str, is_met: bool) -> None:
    assert policy.is_met_by(servers(*cells)) is is_met


@pytest.mark.parametrize(
    ("policy", "cells", "running", "can_elect"),
    [
        (TWO, "aa", 2, True),
        (TWO, "aa", 1, False),
        (TWO, "aaa", 2, True),
        (TWO, "aaa", 1, False),
        (TWO, "aaaa", 3, True),
        (TWO, "aaaa", 2, False),
        (TWO, "aaaaa", 4, True),
        (TWO, "aaaaa", 3, False),
        (TWO_CELLS, "abcab", 3, False),
        (TWO_CELLS, "aabcc", 3, True),
        (TWO_CELLS, "aabb", 2, False),
    ],
)
def test_election_needs_a_majority_and_every_acknowledged_write(
    policy: DurabilityPolicy, cells: str, running: int, can_elect: bool
) -> None:
    cohort = servers(*cells)
    assert policy.can_elect(cohort, cohort[:running]) is can_elect


def test_policy_of_the_rule_is_in_force() -> None:
    rule = ShardRule(None, frozenset(), 3, counts_cells=True)
    assert durability_policy("AT_LEAST_2", rule) == DurabilityPolicy(3, counts_cells=True)


def test_policy_of_the_spec_is_in_force_before_the_first_rule() -> None:
    assert durability_policy("MULTI_CELL_AT_LEAST_2") == TWO_CELLS
