"""Events and transitions of an object."""

from steward.cli.object_events import read_event
from steward.page.models.timeline import SHOWN, timeline
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of


def test_events_of_other_objects_are_left_out() -> None:
    (tree,) = snapshot_of(sample.cluster()).trees
    events = [
        read_event(sample.event("a", ("MultigresCluster", "db"), "Ours", "")),
        read_event(sample.event("b", ("MultigresCluster", "other"), "Foreign", "")),
    ]
    assert [moment.reason for moment in timeline(tree, events, [], 0)] == ["Ours"]


def test_the_newest_are_first_and_their_number_is_limited() -> None:
    (tree,) = snapshot_of(sample.cluster()).trees
    events = []
    for number in range(SHOWN + 10):
        event = sample.event(f"e{number}", ("MultigresCluster", "db"), f"R{number}", "")
        events.append(
            read_event({**event, "eventTime": f"2027-01-01T00:{number % 60:02}:{number // 60:02}Z"})
        )
    moments = timeline(tree, events, [], 0)
    assert len(moments) == SHOWN
    assert moments[0].time >= moments[-1].time


def test_objects_that_have_a_view_are_links() -> None:
    (tree,) = snapshot_of(sample.cluster(), *sample.shards()).trees
    events = [
        read_event(sample.event("a", ("MultigresCluster", "db"), "One", "")),
        read_event(sample.event("b", ("Shard", "db-postgres-default-0-8"), "Two", "")),
    ]
    found = {moment.reason: moment.href for moment in timeline(tree, events, [], 0)}
    assert found == {"One": "/cluster/shop/db", "Two": ""}
