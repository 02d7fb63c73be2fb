"""The election of a shard's primary, from candidates, the previous primary and the time."""

import pytest

from steward.testkit.fake_data_plane.election import Instance, Leadership, elect, primary_names
from steward.testkit.fake_data_plane.faults import NO_FAULTS, DataPlaneFault, DataPlaneFaults

A, B = Instance("pool-a", "1"), Instance("pool-b", "2")
A_AGAIN = Instance("pool-a", "3")
PRIMARY_A = Leadership(A, is_vacant=False, since=0.0)
VACANT = Leadership(A, is_vacant=True, since=10.0)


@pytest.mark.parametrize(
    ("candidates", "previous", "now", "expected"),
    [
        ([B, A], None, 5.0, Leadership(A, is_vacant=False, since=5.0)),
        ([], None, 5.0, Leadership(None, is_vacant=True, since=5.0)),
        ([A, B], PRIMARY_A, 5.0, PRIMARY_A),
        ([B], PRIMARY_A, 10.0, VACANT),
        ([A_AGAIN, B], PRIMARY_A, 10.0, VACANT),
        ([B], VACANT, 11.0, VACANT),
        ([B], VACANT, 12.0, Leadership(B, is_vacant=False, since=12.0)),
        ([A_AGAIN, B], VACANT, 12.0, Leadership(B, is_vacant=False, since=12.0)),
        ([A_AGAIN], VACANT, 12.0, Leadership(A_AGAIN, is_vacant=False, since=12.0)),
        ([], VACANT, 12.0, VACANT),
    ],
    ids=[
        "the first election has no delay",
        "no candidate",
        "the primary stays",
        "the primary is lost",
        "the primary's pod was replaced",
        "the delay is not over",
        "the delay is over",
        "another pod is preferred to the one that came back",
        "the pod that came back, without another",
        "no candidate is left",
    ],
)
def test_a_primary_stays_until_it_is_lost_and_is_then_replaced(
    candidates: list[Instance], previous: Leadership | None, now: float, expected: Leadership
) -> None:
    assert elect(candidates, previous, now, delay=2.0) == expected


@pytest.mark.parametrize(
    ("lead", "faults", "names"),
    [
        (PRIMARY_A, NO_FAULTS, {"pool-a"}),
        (VACANT, NO_FAULTS, set()),
        (PRIMARY_A, frozenset({DataPlaneFault.NO_PRIMARY}), set()),
        (PRIMARY_A, frozenset({DataPlaneFault.TWO_PRIMARIES}), {"pool-a", "pool-b"}),
    ],
)
def test_the_reported_primaries_depend_on_the_faults(
    lead: Leadership, faults: DataPlaneFaults, names: set[str]
) -> None:
    assert primary_names(lead, [A, B, Instance("pool-c", "9")], faults) == names
