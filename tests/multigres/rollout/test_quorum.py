"""Whether a shard keeps its quorum while one of its servers is away."""

import pytest

from steward.multigres.rollout.quorum import (
    Cohort,
    can_meet_policy,
    cohort_of,
    describe_unreachable,
    first_outsider,
    keeps_quorum,
)
from steward.multigres.servers.assessment import ServerState
from tests.multigres.support.shard_pods import MULTI_CELL, knowing, new_pods, pool, shard


@pytest.mark.parametrize(
    ("servers", "down", "kept"),
    [(2, 0, False), (3, 0, True), (3, 1, False), (4, 0, True), (4, 1, False), (5, 0, True), (5, 1, False)],
)
def test_at_most_one_of_three_or_more_members_may_be_away(servers: int, down: int, kept: bool) -> None:
    """A second absent member could have the only other copy of a write."""
    states = {f"a-{number}": ServerState.DOWN for number in range(down)}
    scene = shard(pool("a", *new_pods("a", servers)), states=states)
    assert keeps_quorum(scene, cohort_of(scene).without(f"a-{servers - 1}")) is kept


def test_a_server_outside_the_cohort_does_not_count() -> None:
    scene = shard(pool("a", *new_pods("a", 4)), cohort=["a-0", "a-1"])
    assert not keeps_quorum(scene, cohort_of(scene).without("a-1"))
    assert keeps_quorum(scene, cohort_of(scene).without("a-3"))


def test_a_member_that_is_gone_counts_as_unreachable() -> None:
    scene = shard(pool("a", *new_pods("a", 3)), cohort=["a-0", "a-1", "a-2", "b-0"])
    assert keeps_quorum(scene, cohort_of(scene))
    assert not keeps_quorum(scene, cohort_of(scene).without("a-2"))


def test_a_policy_of_two_cells_needs_servers_in_both() -> None:
    scene = shard(
        pool("a", *new_pods("a", 2), cell="z1"), pool("b", *new_pods("b", 1), cell="z2"), policy=MULTI_CELL
    )
    assert keeps_quorum(scene, cohort_of(scene).without("a-1"))
    assert not keeps_quorum(scene, cohort_of(scene).without("b-0"))
    assert can_meet_policy(scene, ["a-0", "b-0"])
    assert not can_meet_policy(scene, ["a-0", "a-1"])


@pytest.mark.parametrize(
    ("down", "words"),
    [([], ""), (["a-2"], ": a-2 cannot be reached"), (["a-2", "a-0"], ": a-0, a-2 cannot be reached")],
)
def test_members_that_cannot_be_reached_are_named(down: list[str], words: str) -> None:
    scene = shard(pool("a", *new_pods("a", 3)), states=dict.fromkeys(down, ServerState.DOWN))
    assert describe_unreachable(cohort_of(scene)) == words


@pytest.mark.parametrize(
    ("cohort", "outsider"), [(["a-0", "a-1", "a-2"], None), (["a-0"], "a-1"), ([], "a-0")]
)
def test_the_first_server_outside_the_cohort_is_found(cohort: list[str], outsider: str | None) -> None:
    scene = shard(pool("a", *new_pods("a", 3)), cohort=cohort)
    assert first_outsider(scene, ["a-2", "a-1", "a-0"]) == outsider
    assert first_outsider(knowing(scene, cohort=None), ["a-0"]) == "a-0", "an unknown cohort has no members"
    assert cohort_of(knowing(scene, cohort=None)) == Cohort(frozenset(), frozenset())


def test_a_member_that_is_gone_counts_as_a_cell_of_its_own() -> None:
    """Whether it is in the cell of the others is unknown: two of them could have acknowledged a write."""
    pools = (pool("a", *new_pods("a", 3), cell="z1"), pool("b", *new_pods("b", 1), cell="z2"))
    cohort = ["a-0", "a-1", "a-2", "b-0", "gone-0"]
    scene = shard(*pools, cohort=cohort, policy=MULTI_CELL)
    assert {member.cell for member in cohort_of(scene).unreachable} == {"the cell of gone-0"}
    assert not keeps_quorum(scene, cohort_of(scene).without("a-2"))


def test_half_of_the_members_are_no_majority() -> None:
    pools = (pool("a", *new_pods("a", 3), cell="z1"), pool("b", *new_pods("b", 1), cell="z2"))
    scene = shard(*pools, states={"a-1": ServerState.DOWN}, policy=MULTI_CELL)
    away = cohort_of(scene).without("a-2")
    assert (len(away.reachable), len(away.unreachable)) == (2, 2)
    assert not keeps_quorum(scene, away)
