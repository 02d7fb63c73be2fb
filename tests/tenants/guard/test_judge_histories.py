"""Whole histories of a registry: reads of every sort, approvals, and crashes at any step of what they lead to.

Beside the guard stands somebody who has seen everything and forgets nothing, and says of each Tenant that goes whether
anybody asked for that.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp
from steward.runtime.plan.steps import Delete, Patch, Step
from steward.tenants import labels
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.guard_plan import Sentence, plan_of
from steward.tenants.guard.approval import digest_of
from steward.tenants.guard.judge import (
    CleanRead,
    FailedRead,
    Known,
    Memory,
    Policy,
    Read,
    Situation,
    Verdict,
    judge,
)
from steward.tenants.views import Tenant

UIDS = tuple(f"t{number}" for number in range(8))
NOTHING_REMEMBERED = Memory()
PROD = Ref(REGISTRY, Key("shop", "prod"))
POLICIES = st.builds(
    Policy,
    max_percent=st.sampled_from([0, 30, 50, 100]),
    max_count=st.sampled_from([None, None, 1, 3]),
    grace=st.sampled_from([0.0, 0.0, 20.0]),
    confirm_after=st.just(5.0),
    believes_empty=st.booleans(),
)


@dataclass(frozen=True)
class Moment:
    """One turn: what the table answers, what a human approves, and how much of what follows is done before a crash."""

    states: dict[str, str] | None
    """What each uid is in the table; None is a read that failed."""
    seconds: float
    source: str
    nameless: int
    approves: str
    """Nothing, what is held, or something else."""
    steps: int | None
    """None: all of them. Otherwise the process ends after so many."""


# Most rows are active at most times: else hardly anything but holds would be seen.
STATES = st.dictionaries(
    st.sampled_from(UIDS), st.sampled_from(["missing", "inactive", "rejected"]), max_size=3
)
MOMENTS = st.builds(
    Moment,
    states=st.one_of(st.none(), STATES, STATES, STATES, st.just(dict.fromkeys(UIDS, "missing"))),
    seconds=st.sampled_from([1.0, 5.0, 30.0]),
    source=st.sampled_from(["db", "db", "db", "db", "other"]),
    nameless=st.sampled_from([0, 0, 0, 1]),
    approves=st.sampled_from(["", "", "held", "stale"]),
    steps=st.none() | st.integers(0, 4),
)


@dataclass
class Witness:
    """Knows of each Tenant since when nothing but clean reads of one source have missed its row, in one life of the
    process, and which sets were approved."""

    misses: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    approved: set[str] = field(default_factory=set)
    let_go: set[str] = field(default_factory=set)
    """Marked, by rights."""

    def see(self, read: CleanRead) -> None:
        present = read.active | read.inactive | read.rejected
        for uid in UIDS:
            if uid in present:
                self.misses.pop(uid, None)
            else:
                same = [miss for miss in self.misses.get(uid, []) if miss[1] == read.source]
                self.misses[uid] = [*same, (read.at, read.source)]
            if uid in read.active | read.rejected:
                self.let_go.discard(uid)

    def was_asked(self, uid: str, read: CleanRead, policy: Policy) -> bool:
        if uid in read.active | read.rejected:
            return False
        misses = self.misses.get(uid, [])
        is_confirmed = len(misses) > 1 and read.at - misses[0][0] >= policy.confirm_after
        return uid in read.inactive or uid in self.let_go or is_confirmed


@dataclass
class World:
    policy: Policy
    tenants: dict[str, Known] = field(default_factory=lambda: {uid: Known(uid, uid, "web") for uid in UIDS})
    memory: Memory = NOTHING_REMEMBERED
    witness: Witness = field(default_factory=Witness)
    approval: str = ""
    now: float = 0.0

    def turn(self, moment: Moment) -> None:
        self.now += moment.seconds
        self._approve(moment.approves)
        read = _read(moment, self.now)
        before = dict(self.tenants)
        known = tuple(before.values())
        verdict = judge(read, Situation(known, self.policy, approval=self.approval, memory=self.memory))
        if isinstance(read, CleanRead):
            if read.rows or self.policy.believes_empty:
                self.witness.see(read)
            self._check(read, verdict, before)
        for step in _some(plan_of(_sentence(verdict, before)), moment.steps):
            self._carry_out(step)
        self.memory = verdict.memory if moment.steps is None else Memory()
        if moment.steps is not None:
            self.witness.misses.clear()

    def _approve(self, what: str) -> None:
        hold = self.memory.hold
        if what == "held" and hold is not None:
            self.approval = hold.approve_with
        elif what == "stale":
            self.approval = f"2-{digest_of(UIDS[:2])}"
        self.witness.approved.add(self.approval)

    def _check(self, read: CleanRead, verdict: Verdict, before: dict[str, Known]) -> None:
        """Nothing is deleted or marked that was not asked for, and no more at once than was allowed or approved."""
        marked = {mark.name for mark in verdict.mark}
        for uid in {*verdict.delete, *marked}:
            assert self.witness.was_asked(uid, read, self.policy), (uid, read, verdict)
        anew = {uid for uid in {*verdict.delete, *marked} if before[uid].delete_after is None}
        settled = {uid for uid, tenant in before.items() if tenant.delete_after is not None}
        assert self._is_allowed(anew, len(before)) or self._is_approved(anew, settled), (anew, verdict)
        if read.rows == 0 and not self.policy.believes_empty:
            assert not verdict.delete
            assert not marked

    def _is_allowed(self, going: set[str], existing: int) -> bool:
        policy = self.policy
        within_count = policy.max_count is None or len(going) <= policy.max_count
        return within_count and (len(going) <= 1 or len(going) * 100 <= policy.max_percent * existing)

    def _is_approved(self, going: set[str], settled: set[str]) -> bool:
        sets = (going, going | settled)
        return any(f"{len(names)}-{digest_of(names)}" in self.witness.approved for names in sets)

    def _carry_out(self, step: Step) -> None:
        if isinstance(step, Delete):
            del self.tenants[step.ref.key.name]
        elif isinstance(step, Patch) and step.ref == PROD:
            self.approval = ""
        elif isinstance(step, Patch):
            name, mark = step.ref.key.name, _mark_of(step)
            self.tenants[name] = self.tenants[name]._replace(delete_after=mark)
            self.witness.let_go |= set() if mark is None else {name}


def _read(moment: Moment, at: float) -> Read:
    if moment.states is None:
        return FailedRead(at)
    states = dict.fromkeys(UIDS, "active") | moment.states
    groups = {
        state: frozenset(uid for uid, found in states.items() if found == state)
        for state in ("active", "inactive", "rejected")
    }
    total = sum(map(len, groups.values())) + moment.nameless
    return CleanRead(at, moment.source, total, **groups, nameless=moment.nameless)


def _sentence(verdict: Verdict, known: dict[str, Known]) -> Sentence:
    tenants = {name: Tenant(ObjectMeta(name=name, namespace="shop", uid=name)) for name in known}
    return Sentence(PROD, verdict, tenants, ())


def _some(plan: tuple[Step, ...], count: int | None) -> Iterator[Step]:
    written = [step for step in plan if isinstance(step, (Delete, Patch))]
    return iter(written if count is None else written[:count])


def _mark_of(step: Patch) -> float | None:
    assert isinstance(step.patch, MergePatch)
    stamp = step.patch.changes["metadata"]["annotations"][labels.DELETE_AFTER]
    return None if stamp is None else from_timestamp(stamp)


@settings(deadline=None, max_examples=150)
@given(POLICIES, st.lists(MOMENTS, min_size=1, max_size=14))
def test_whatever_happens_nothing_goes_that_nobody_asked_for(policy: Policy, history: list[Moment]) -> None:
    world = World(policy)
    for moment in history:
        world.turn(moment)


@settings(deadline=None, max_examples=50)
@given(POLICIES, st.lists(MOMENTS, max_size=8), st.sampled_from(UIDS))
def test_after_any_history_a_row_that_stays_away_goes_in_the_end(
    policy: Policy, history: list[Moment], uid: str
) -> None:
    world = World(without_limits(policy))
    for moment in history:
        world.turn(moment)
    for _ in range(8):
        world.turn(Moment({uid: "missing"}, 30.0, "db", 0, "", None))
    assert uid not in world.tenants


def without_limits(policy: Policy) -> Policy:
    return policy._replace(max_percent=100, max_count=None)


@settings(deadline=None, max_examples=50)
@given(POLICIES, st.lists(MOMENTS, max_size=8))
def test_after_any_history_rows_that_are_all_back_lose_nobody_and_hold_nothing(
    policy: Policy, history: list[Moment]
) -> None:
    world = World(policy)
    for moment in history:
        world.turn(moment)
    there = set(world.tenants)
    for _ in range(3):
        world.turn(Moment({}, 30.0, "db", 0, "", None))
    assert set(world.tenants) == there
    assert world.memory.hold is None
    assert all(tenant.delete_after is None for tenant in world.tenants.values())
