"""Who may elect a leader, and who may leave a cohort, under both durability policies."""

import pytest

from steward.testkit.fake_data_plane.rule import (
    DurabilityPolicy,
    ServerId,
    ShardRule,
    has_quorum,
    may_drop,
    survives_without,
)

SERVERS, CELLS = DurabilityPolicy(2), DurabilityPolicy(2, counts_cells=True)
A1, A2, B1, B2, C1 = (ServerId(name[0], name) for name in ("a1", "a2", "b1", "b2", "c1"))


def rule(policy: DurabilityPolicy, *cohort: ServerId) -> ShardRule:
    return ShardRule(1, 0, cohort[0], frozenset(cohort), policy)


@pytest.mark.parametrize(
    ("policy", "cohort", "reachable", "expected"),
    [
        (SERVERS, [A1, B1], [A1, B1], True),
        (SERVERS, [A1, B1], [B1], False),
        (SERVERS, [A1, B1, C1], [B1, C1], True),
        (SERVERS, [A1, B1, C1], [C1], False),
        (SERVERS, [A1, A2, B1, B2], [A2, B1, B2], True),
        (SERVERS, [A1, A2, B1, B2], [B1, B2], False),
        (SERVERS, [A1, A2, B1, B2, C1], [B1, B2, C1], False),
        (CELLS, [A1, A2, B1, B2, C1], [B1, B2, C1], True),
        (CELLS, [A1, A2, B1, B2], [B1, B2], False),
        (CELLS, [A1, A2, B1], [A1, A2], False),
    ],
    ids=[
        "both of two",
        "one of two is no majority",
        "two of three",
        "one of three",
        "three of four",
        "two of four is no majority",
        "the two others of five could acknowledge a write",
        "the two others are in one cell and cannot",
        "a cell of two equal ones",
        "one cell cannot acknowledge a write itself",
    ],
)
def test_a_leader_needs_a_majority_without_which_no_write_is_acknowledged(
    policy: DurabilityPolicy, cohort: list[ServerId], reachable: list[ServerId], expected: bool
) -> None:
    assert has_quorum(rule(policy, *cohort), reachable) is expected


@pytest.mark.parametrize(
    ("policy", "cohort", "member", "expected"),
    [
        (SERVERS, [A1, B1, C1], C1, True),
        (SERVERS, [A1, B1], B1, False),
        (SERVERS, [A1, B1, C1], A1, False),
        (CELLS, [A1, A2, B1], B1, False),
        (CELLS, [A1, A2, B1], A2, True),
    ],
    ids=["one of three", "one of two", "the leader", "the only one of another cell", "one of two in a cell"],
)
def test_a_member_is_dropped_only_if_the_others_meet_the_policy(
    policy: DurabilityPolicy, cohort: list[ServerId], member: ServerId, expected: bool
) -> None:
    assert may_drop(rule(policy, *cohort), member) is expected


@pytest.mark.parametrize(
    ("cohort", "expected"), [([A1, A2, B1, B2], True), ([A1, B1, C1], False), ([A1, B1], False)]
)
def test_a_member_without_a_record_is_forgotten_only_if_the_leader_could_be_lost_after_it(
    cohort: list[ServerId], expected: bool
) -> None:
    assert survives_without(rule(SERVERS, *cohort), B1) is expected


def test_every_change_of_a_rule_has_a_higher_number() -> None:
    first = rule(SERVERS, A1, B1)
    joined = first.with_cohort([A1, B1, C1])
    assert (joined.term, joined.subterm) == (1, 1)
    assert first.with_cohort([B1, A1]) is first
    elected = joined.elect(B1)
    assert (elected.term, elected.subterm, elected.leader) == (2, 0, B1)
