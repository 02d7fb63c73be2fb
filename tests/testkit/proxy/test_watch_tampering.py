import msgspec
import pytest

from steward.testkit import CutWatch, DelayEvents, HoldWatch, InsertLine, LoseEvents, RepeatEvents
from steward.testkit.proxy.watch_tampering import MatchedFault, WatchTamperer, fault_matches


def line(kind: str, name: str) -> bytes:
    return msgspec.json.encode({"type": kind, "object": {"metadata": {"name": name}}}) + b"\n"


A, B, C, D = (line("ADDED", name) for name in "abcd")


def run(faults, lines):
    tamper = WatchTamperer(
        lambda event: [MatchedFault(fault, 7) for fault in faults if fault_matches(fault, event)]
    )
    out = [piece for one in lines for piece in tamper.feed(one).lines]
    return out + list(tamper.flush())


@pytest.mark.parametrize(
    ("faults", "got"),
    [
        ([], [A, B, C]),
        ([LoseEvents(name="b")], [A, C]),
        ([LoseEvents(type="DELETED")], [A, B, C]),
        ([RepeatEvents(name="b")], [A, B, B, C]),
        ([RepeatEvents(name="b", times=2)], [A, B, B, B, C]),
        ([DelayEvents(name="a")], [B, A, C]),
        ([DelayEvents(name="a", behind=2)], [B, C, A]),
        ([DelayEvents(name="c")], [A, B, C]),
        ([InsertLine("no json", name="b")], [A, b"no json\n", B, C]),
        ([InsertLine("x", name="b"), LoseEvents(name="b")], [A, b"x\n", C]),
    ],
)
def test_events_are_lost_repeated_reordered_and_inserted(faults, got):
    assert run(faults, [A, B, C]) == got


def test_a_hold_names_its_rule_and_keeps_the_event():
    verdict = WatchTamperer(lambda event: [MatchedFault(HoldWatch(), 7)]).feed(A)
    assert (verdict.hold_by, verdict.lines) == (7, (A,))


def test_a_cut_sends_nothing_more():
    verdict = WatchTamperer(lambda event: [MatchedFault(CutWatch(), 7)]).feed(A)
    assert (verdict.cut, verdict.lines) == (True, ())


def test_a_line_that_is_no_event_matches_no_name():
    assert run([LoseEvents(name="a")], [b"broken\n"]) == [b"broken\n"]
