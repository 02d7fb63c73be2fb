"""Who leads a shard, from candidates, the lead so far and the time."""

import pytest

from steward.testkit.fake_data_plane.election import Instance, Lead, elect, leading
from steward.testkit.fake_data_plane.faults import NONE, Misbehaviour, Misbehaviours

A, B = Instance("pool-a", "1"), Instance("pool-b", "2")
A_AGAIN = Instance("pool-a", "3")
LED_BY_A = Lead(A, is_vacant=False, since=0.0)
VACANT = Lead(A, is_vacant=True, since=10.0)


@pytest.mark.parametrize(
    ("candidates", "before", "now", "after"),
    [
        ([B, A], None, 5.0, Lead(A, is_vacant=False, since=5.0)),
        ([], None, 5.0, Lead(None, is_vacant=True, since=5.0)),
        ([A, B], LED_BY_A, 5.0, LED_BY_A),
        ([B], LED_BY_A, 10.0, VACANT),
        ([A_AGAIN, B], LED_BY_A, 10.0, VACANT),
        ([B], VACANT, 11.0, VACANT),
        ([B], VACANT, 12.0, Lead(B, is_vacant=False, since=12.0)),
        ([A_AGAIN, B], VACANT, 12.0, Lead(B, is_vacant=False, since=12.0)),
        ([A_AGAIN], VACANT, 12.0, Lead(A_AGAIN, is_vacant=False, since=12.0)),
        ([], VACANT, 12.0, VACANT),
    ],
    ids=[
        "the first election takes no time",
        "nobody can lead",
        "who leads keeps on",
        "the leader is gone",
        "the leader's pod was replaced",
        "the delay is not over",
        "the delay is over",
        "another one is preferred to the one that came back",
        "the one that came back, where there is no other",
        "nobody is left",
    ],
)
def test_one_leads_until_it_goes_and_another_one_follows(
    candidates: list[Instance], before: Lead | None, now: float, after: Lead
) -> None:
    assert elect(candidates, before, now, delay=2.0) == after


@pytest.mark.parametrize(
    ("lead", "wrong", "names"),
    [
        (LED_BY_A, NONE, {"pool-a"}),
        (VACANT, NONE, set()),
        (LED_BY_A, frozenset({Misbehaviour.NO_PRIMARY}), set()),
        (LED_BY_A, frozenset({Misbehaviour.TWO_PRIMARIES}), {"pool-a", "pool-b"}),
    ],
)
def test_who_says_that_it_leads_depends_on_what_is_wrong(
    lead: Lead, wrong: Misbehaviours, names: set[str]
) -> None:
    assert leading(lead, [A, B, Instance("pool-c", "9")], wrong) == names
