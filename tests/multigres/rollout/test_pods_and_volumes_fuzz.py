"""Random changes in any order: the planners of pods and volumes never lose data, the primary or the quorum.

After each change the pure planners decide and their steps are executed on a simulated shard, until there are none.
"""

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.multigres.servers.assessment import ServerState
from steward.multigres.views import (
    ClaimRetention,
)
from tests.multigres.support.simulated_shard import PERIOD, POLICY, DesiredPool, SimulatedShard

pytestmark = pytest.mark.slow

NAMES = ("a", "b")
RECONCILES = 60


class Change(NamedTuple):
    """A change by a user or a failure, and how many reconciles follow before the next change."""

    action: str
    value: Any
    reconciles: int

    def apply_to(self, shard: SimulatedShard) -> None:
        if self.action == "pool":
            name, desired = self.value
            size = max(desired.size, shard.spec[name].size if name in shard.spec else 0)
            shard.spec[name] = desired._replace(size=size)
        elif self.action == "gone":
            shard.spec.pop(self.value, None)
        elif self.action == "pod" and shard.pods:
            name = sorted(shard.pods)[self.value % len(shard.pods)]
            is_down = shard.pods[name].state is ServerState.DOWN
            shard.pods[name] = shard.pods[name]._replace(
                state=ServerState.STARTING if is_down else ServerState.DOWN
            )
        elif self.action == "primary" and shard.cohort & shard.ready_servers():
            candidates = sorted(shard.cohort & shard.ready_servers())
            shard.actual_primary = candidates[self.value % len(candidates)]
        elif self.action in ("topology", "grace", "switching", "orchestrators"):
            setattr(shard, self.action, self.value)
        elif self.action == "time":
            shard.now += self.value


WHEN = st.sampled_from(["Retain", "Delete"])
POOLS = st.builds(
    DesiredPool,
    st.integers(0, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.builds(ClaimRetention, WHEN, WHEN),
)
VALUES = {
    "pool": st.tuples(st.sampled_from(NAMES), POOLS),
    "gone": st.sampled_from(NAMES),
    "pod": st.integers(0, 9),
    "primary": st.integers(0, 9),
    "topology": st.sampled_from(["answers", "no primary", "silent", "unchecked"]),
    "switching": st.sampled_from(["works", "is refused"]),
    "orchestrators": st.sampled_from(["work", "are away"]),
    "grace": st.sampled_from([0.0, 30.0]),
    "time": st.sampled_from([1.0, 31.0, 61.0]),
}
CHANGES = st.one_of(
    *(st.builds(Change, st.just(action), value, st.integers(0, 4)) for action, value in VALUES.items())
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.integers(1, 4), st.lists(CHANGES, max_size=12))
def test_no_order_of_changes_loses_data_the_primary_or_the_quorum(
    replicas: int, changes: list[Change]
) -> None:
    shard = SimulatedShard({"a": DesiredPool(replicas)})
    for _ in range(4):
        shard.reconcile()
    for change in changes:
        change.apply_to(shard)
        for _ in range(change.reconciles):
            shard.reconcile()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(CHANGES, max_size=10))
def test_without_failures_the_desired_state_is_reached_and_stays(changes: list[Change]) -> None:
    shard = SimulatedShard({"a": DesiredPool(3)})
    for change in changes:
        change.apply_to(shard)
        shard.reconcile()
    _repair(shard)
    for _ in range(RECONCILES):
        shard.now += PERIOD + 1
        shard.reconcile()
    assert set(shard.sets) == set(shard.spec)
    assert {name: each.desired.replicas for name, each in shard.sets.items()} == {
        name: each.replicas for name, each in shard.spec.items()
    }
    assert {pod.image for pod in shard.pods.values()} <= {each.image for each in shard.spec.values()}
    previous = shard.created, dict(shard.pods), dict(shard.claims)
    shard.reconcile()
    assert (shard.created, shard.pods, shard.claims) == previous


def _repair(shard: SimulatedShard) -> None:
    """Ends all failures. A user who asks for less than the policy needs asks for enough again."""
    shard.topology, shard.switching, shard.orchestrators = "answers", "works", "work"
    shard.pods = {name: pod._replace(state=ServerState.READY) for name, pod in shard.pods.items()}
    if 0 < sum(each.replicas for each in shard.spec.values()) < POLICY.required:
        name = next(name for name, each in shard.spec.items() if each.replicas)
        shard.spec[name] = shard.spec[name]._replace(replicas=POLICY.required)
