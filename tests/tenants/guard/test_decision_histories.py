"""Random histories of a registry: reads of every kind, approvals, and crashes at any step of the resulting plans.

An observer that keeps every read and approval checks for each deleted Tenant that a read or an approval implied it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp
from steward.runtime.plan.steps import Delete, Patch, Step
from steward.tenants import labels
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.guard_plan import RegistryDecision, guard_plan
from steward.tenants.guard.approval import names_digest
from steward.tenants.guard.decision import (
    CleanRead,
    FailedRead,
    GuardDecision,
    GuardedTenant,
    GuardInput,
    GuardPolicy,
    GuardState,
    TableRead,
    decide_deletions,
)
from steward.tenants.views import Tenant

pytestmark = pytest.mark.slow

UIDS = tuple(f"t{number}" for number in range(8))
NO_STATE = GuardState()
PROD = Ref(REGISTRY, Key("shop", "prod"))
POLICIES = st.builds(
    GuardPolicy,
    max_percent=st.sampled_from([0, 30, 50, 100]),
    max_count=st.sampled_from([None, None, 1, 3]),
    grace=st.sampled_from([0.0, 0.0, 20.0]),
    confirm_after=st.just(5.0),
    allow_empty=st.booleans(),
)


@dataclass(frozen=True)
class Turn:
    """One sync: the result of the read, what the user approves, and how many steps are done before a crash."""

    states: dict[str, str] | None
    """The state of each uid in the table; None is a failed read."""
    seconds: float
    source: str
    without_uid: int
    approves: str
    """Nothing, the held set, or another set."""
    steps: int | None
    """None: all of them. Otherwise the process crashes after this many."""


# Most rows are active most of the time: otherwise nearly every decision would be a hold.
STATES = st.dictionaries(
    st.sampled_from(UIDS), st.sampled_from(["missing", "inactive", "rejected"]), max_size=3
)
TURNS = st.builds(
    Turn,
    states=st.one_of(st.none(), STATES, STATES, STATES, st.just(dict.fromkeys(UIDS, "missing"))),
    seconds=st.sampled_from([1.0, 5.0, 30.0]),
    source=st.sampled_from(["db", "db", "db", "db", "other"]),
    without_uid=st.sampled_from([0, 0, 0, 1]),
    approves=st.sampled_from(["", "", "held", "stale"]),
    steps=st.none() | st.integers(0, 4),
)


@dataclass
class Observer:
    """Records for each uid the consecutive clean reads of one source that lacked it, within one process, and the
    approved sets."""

    misses: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    approved: set[str] = field(default_factory=set)
    allowed: set[str] = field(default_factory=set)
    """Marked, with a reason."""

    def record(self, read: CleanRead) -> None:
        present = read.active | read.inactive | read.rejected
        for uid in UIDS:
            if uid in present:
                self.misses.pop(uid, None)
            else:
                same = [miss for miss in self.misses.get(uid, []) if miss[1] == read.source]
                self.misses[uid] = [*same, (read.at, read.source)]
            if uid in read.active | read.rejected:
                self.allowed.discard(uid)

    def is_implied(self, uid: str, read: CleanRead, policy: GuardPolicy) -> bool:
        if uid in read.active | read.rejected:
            return False
        misses = self.misses.get(uid, [])
        is_confirmed = len(misses) > 1 and read.at - misses[0][0] >= policy.confirm_after
        return uid in read.inactive or uid in self.allowed or is_confirmed


@dataclass
class SimulatedRegistry:
    policy: GuardPolicy
    tenants: dict[str, GuardedTenant] = field(
        default_factory=lambda: {uid: GuardedTenant(uid, uid, "web") for uid in UIDS}
    )
    state: GuardState = NO_STATE
    observer: Observer = field(default_factory=Observer)
    approval: str = ""
    now: float = 0.0

    def play(self, turn: Turn) -> None:
        self.now += turn.seconds
        self._approve(turn.approves)
        read = _read(turn, self.now)
        before = dict(self.tenants)
        decision = decide_deletions(
            read, GuardInput(tuple(before.values()), self.policy, approval=self.approval, state=self.state)
        )
        if isinstance(read, CleanRead):
            if read.rows or self.policy.allow_empty:
                self.observer.record(read)
            self._check(read, decision, before)
        for step in _first_writes(guard_plan(_registry_decision(decision, before)), turn.steps):
            self._apply_step(step)
        self.state = decision.state if turn.steps is None else GuardState()
        if turn.steps is not None:
            self.observer.misses.clear()

    def _approve(self, what: str) -> None:
        hold = self.state.hold
        if what == "held" and hold is not None:
            self.approval = hold.approve_with
        elif what == "stale":
            self.approval = f"2-{names_digest(UIDS[:2])}"
        self.observer.approved.add(self.approval)

    def _check(self, read: CleanRead, decision: GuardDecision, before: dict[str, GuardedTenant]) -> None:
        """Nothing is deleted or marked without a reason, and no more at once than was allowed or approved."""
        marked = {mark.name for mark in decision.mark}
        for uid in {*decision.delete, *marked}:
            assert self.observer.is_implied(uid, read, self.policy), (uid, read, decision)
        newly_allowed = {uid for uid in {*decision.delete, *marked} if before[uid].delete_after is None}
        marked_before = {uid for uid, tenant in before.items() if tenant.delete_after is not None}
        assert self._is_allowed(newly_allowed, len(before)) or self._is_approved(
            newly_allowed, marked_before
        ), (newly_allowed, decision)
        if read.rows == 0 and not self.policy.allow_empty:
            assert not decision.delete
            assert not marked

    def _is_allowed(self, deleted: set[str], existing: int) -> bool:
        policy = self.policy
        within_count = policy.max_count is None or len(deleted) <= policy.max_count
        return within_count and (len(deleted) <= 1 or len(deleted) * 100 <= policy.max_percent * existing)

    def _is_approved(self, deleted: set[str], marked_before: set[str]) -> bool:
        sets = (deleted, deleted | marked_before)
        return any(f"{len(names)}-{names_digest(names)}" in self.observer.approved for names in sets)

    def _apply_step(self, step: Step) -> None:
        if isinstance(step, Delete):
            del self.tenants[step.ref.key.name]
        elif isinstance(step, Patch) and step.ref == PROD:
            self.approval = ""
        elif isinstance(step, Patch):
            name, mark = step.ref.key.name, _mark_of(step)
            self.tenants[name] = self.tenants[name]._replace(delete_after=mark)
            self.observer.allowed |= set() if mark is None else {name}


def _read(turn: Turn, at: float) -> TableRead:
    if turn.states is None:
        return FailedRead(at)
    states = dict.fromkeys(UIDS, "active") | turn.states
    groups = {
        state: frozenset(uid for uid, found in states.items() if found == state)
        for state in ("active", "inactive", "rejected")
    }
    total = sum(map(len, groups.values())) + turn.without_uid
    return CleanRead(at, turn.source, total, **groups, rows_without_uid=turn.without_uid)


def _registry_decision(decision: GuardDecision, tenants: dict[str, GuardedTenant]) -> RegistryDecision:
    views = {name: Tenant(ObjectMeta(name=name, namespace="shop", uid=name)) for name in tenants}
    return RegistryDecision(PROD, decision, views, ())


def _first_writes(plan: tuple[Step, ...], count: int | None) -> Iterator[Step]:
    written = [step for step in plan if isinstance(step, (Delete, Patch))]
    return iter(written if count is None else written[:count])


def _mark_of(step: Patch) -> float | None:
    assert isinstance(step.patch, MergePatch)
    stamp = step.patch.changes["metadata"]["annotations"][labels.DELETE_AFTER]
    return None if stamp is None else from_timestamp(stamp)


@settings(deadline=None, max_examples=150)
@given(POLICIES, st.lists(TURNS, min_size=1, max_size=14))
def test_no_history_deletes_a_tenant_without_a_read_or_approval_that_implies_it(
    policy: GuardPolicy, history: list[Turn]
) -> None:
    registry = SimulatedRegistry(policy)
    for turn in history:
        registry.play(turn)


@settings(deadline=None, max_examples=50)
@given(POLICIES, st.lists(TURNS, max_size=8), st.sampled_from(UIDS))
def test_after_any_history_a_row_that_stays_missing_is_deleted(
    policy: GuardPolicy, history: list[Turn], uid: str
) -> None:
    registry = SimulatedRegistry(without_limits(policy))
    for turn in history:
        registry.play(turn)
    for _ in range(8):
        registry.play(Turn({uid: "missing"}, 30.0, "db", 0, "", None))
    assert uid not in registry.tenants


def without_limits(policy: GuardPolicy) -> GuardPolicy:
    return policy._replace(max_percent=100, max_count=None)


@settings(deadline=None, max_examples=50)
@given(POLICIES, st.lists(TURNS, max_size=8))
def test_after_any_history_nothing_is_deleted_or_held_once_all_rows_are_back(
    policy: GuardPolicy, history: list[Turn]
) -> None:
    registry = SimulatedRegistry(policy)
    for turn in history:
        registry.play(turn)
    there = set(registry.tenants)
    for _ in range(3):
        registry.play(Turn({}, 30.0, "db", 0, "", None))
    assert set(registry.tenants) == there
    assert registry.state.hold is None
    assert all(tenant.delete_after is None for tenant in registry.tenants.values())
