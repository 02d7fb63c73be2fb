"""What holds for the deletion guard whatever the reads, the Tenants and the policy are."""

from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tenants.guard.approval import digest_of
from steward.tenants.guard.judge import CleanRead, FailedRead, Known, Memory, Policy, Situation, judge

UIDS = st.sampled_from([f"t{number}" for number in range(12)])
SETS = st.frozensets(UIDS)
TEMPLATES = ("web", "worker")


@st.composite
def reads(draw: st.DrawFn, at: float) -> CleanRead:
    states = draw(st.dictionaries(UIDS, st.sampled_from(["active", "inactive", "rejected"])))
    groups = {
        state: frozenset(uid for uid, found in states.items() if found == state)
        for state in ("active", "inactive", "rejected")
    }
    nameless = draw(st.sampled_from([0, 0, 0, 1, 2]))
    source = draw(st.sampled_from(["db", "db", "db", "other"]))
    return CleanRead(at, source, len(states) + nameless, **groups, nameless=nameless)


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    keys = draw(st.frozensets(st.tuples(UIDS, st.sampled_from(TEMPLATES))))
    marks = st.one_of(st.none(), st.floats(0, 100))
    known = tuple(Known(f"{uid}-{name}", uid, name, draw(marks)) for uid, name in sorted(keys))
    policy = Policy(
        max_percent=draw(st.integers(0, 100)),
        max_count=draw(st.none() | st.integers(0, 12)),
        grace=draw(st.sampled_from([0.0, 30.0])),
        believes_empty=draw(st.booleans()),
    )
    return Situation(known, policy, approval=draw(approvals(known)))


def approvals(known: tuple[Known, ...]) -> st.SearchStrategy[str]:
    if not known:
        return st.just("")
    names = st.frozensets(st.sampled_from([tenant.name for tenant in known]), min_size=1)
    return st.just("") | names.map(lambda found: f"{len(found)}-{digest_of(found)}")


@settings(deadline=None)
@given(situations(), st.floats(0, 200))
def test_nothing_is_touched_by_an_unclean_read(found: Situation, at: float) -> None:
    verdict = judge(FailedRead(at), found)
    assert (verdict.delete, verdict.mark, verdict.unmark, verdict.approval_is_spent) == ((), (), (), False)
    assert verdict.memory == found.memory


@settings(deadline=None)
@given(situations(), reads(at=50.0))
def test_a_tenant_whose_row_is_active_or_rejected_is_never_touched(found: Situation, read: CleanRead) -> None:
    verdict = judge(read, found)
    touched = {*verdict.delete, *(mark.name for mark in verdict.mark)}
    safe = {tenant.name for tenant in found.known if tenant.uid in read.active | read.rejected}
    assert not touched & safe


@settings(deadline=None)
@given(situations(), reads(at=50.0))
def test_one_read_deletes_no_unmarked_tenant_whose_row_is_missing(found: Situation, read: CleanRead) -> None:
    verdict = judge(read, found)
    seen = read.active | read.inactive | read.rejected
    missing = {
        tenant.name for tenant in found.known if tenant.uid not in seen and tenant.delete_after is None
    }
    assert not missing & {*verdict.delete, *(mark.name for mark in verdict.mark)}


@settings(deadline=None)
@given(situations(), reads(at=50.0))
def test_without_an_approval_no_more_than_the_limits_go_at_once(found: Situation, read: CleanRead) -> None:
    verdict = judge(read, found._replace(approval=""))
    unmarked = {tenant.name: tenant.uid for tenant in found.known if tenant.delete_after is None}
    going = [name for name in (*verdict.delete, *(mark.name for mark in verdict.mark)) if name in unmarked]
    if found.policy.max_count is not None:
        assert len(going) <= found.policy.max_count
    if len({unmarked[name] for name in going}) > 1:
        assert len(going) * 100 <= found.policy.max_percent * len(found.known)


@settings(deadline=None)
@given(situations(), reads(at=50.0))
def test_an_approval_releases_its_own_set_or_nothing(found: Situation, read: CleanRead) -> None:
    without = judge(read, found._replace(approval=""))
    verdict = judge(read, found)
    if verdict.hold == without.hold:
        assert verdict._replace(approval_is_spent=False) == without
        return
    marked = {tenant.name for tenant in found.known if tenant.delete_after is not None}
    new = {mark.name for mark in verdict.mark}
    assert found.approval in {
        f"{len(names)}-{digest_of(names)}" for names in (new, new | (marked - set(verdict.unmark)))
    }


@settings(deadline=None)
@given(situations(), reads(at=50.0))
def test_a_hold_deletes_and_marks_nothing(found: Situation, read: CleanRead) -> None:
    verdict = judge(read, found)
    if verdict.hold is not None:
        assert (verdict.delete, verdict.mark) == ((), ())


@settings(deadline=None)
@given(situations(), st.floats(0, 200))
def test_zero_rows_touch_nothing_unless_they_are_believed(found: Situation, at: float) -> None:
    careful = found._replace(policy=found.policy._replace(believes_empty=False))
    verdict = judge(CleanRead(at, "db", 0), careful)
    assert (verdict.delete, verdict.mark, verdict.approval_is_spent) == ((), (), False)


@settings(deadline=None)
@given(situations(), reads(at=50.0), reads(at=55.0))
def test_two_agreeing_reads_within_the_limits_do_delete(
    found: Situation, first: CleanRead, second: CleanRead
) -> None:
    open_handed = found._replace(policy=Policy(max_percent=100, believes_empty=True), memory=Memory())
    memory = judge(first, open_handed).memory
    verdict = judge(second, open_handed._replace(memory=memory))
    agreed = {
        tenant.name
        for tenant in found.known
        if first.source == second.source
        and first.nameless == second.nameless == 0
        and all(tenant.uid not in read.active | read.rejected | read.inactive for read in (first, second))
        and tenant.delete_after is None
    }
    assert agreed <= set(verdict.delete)


FLAPPING = st.lists(
    st.dictionaries(st.sampled_from(["t0", "t1", "t2", "t3"]), st.sampled_from(["active", "inactive"])),
    min_size=1,
    max_size=12,
)


def misses(reads: list[dict[str, str]], uid: str) -> int:
    """How many reads in a row have missed a row at the end. An empty one says nothing."""
    told = [uid in states for states in reversed(reads) if states]
    return told.index(True) if True in told else len(told)


@settings(deadline=None)
@given(FLAPPING, st.sampled_from([1.0, 5.0, 30.0]))
def test_rows_that_come_and_go_delete_no_more_than_what_two_reads_in_a_row_agree_on(
    seen: list[dict[str, str]], interval: float
) -> None:
    known = {uid: Known(f"{uid}-web", uid, "web") for uid in ("t0", "t1", "t2", "t3")}
    policy = Policy(max_percent=100, confirm_after=min(interval, 5.0))
    memory = Memory()
    for number, states in enumerate(seen):
        active = frozenset(uid for uid, state in states.items() if state == "active")
        read = CleanRead(number * interval, "db", len(states), active, frozenset(states) - active)
        verdict = judge(read, Situation(tuple(known.values()), policy, memory=memory))
        memory = verdict.memory
        for uid in (name.removesuffix("-web") for name in verdict.delete):
            assert states.get(uid) == "inactive" or misses(seen[: number + 1], uid) >= 2
            del known[uid]
