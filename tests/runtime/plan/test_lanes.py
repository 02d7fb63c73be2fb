import asyncio
from collections.abc import Iterator

import pytest

from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.runtime.plan.lanes import LaneInheritance, current_lane
from steward.runtime.plan.steps import Delete, Requeue
from steward.runtime.reconcile import Lane

REF = Ref(CONFIG_MAP, Key("shop", "a"))
STEP = Delete(REF, "uid", "it is time")


@pytest.fixture
def slow() -> Iterator[None]:
    token = current_lane.set(Lane.SLOW)
    yield
    current_lane.reset(token)


def test_a_write_of_the_fast_lane_is_not_marked_slow() -> None:
    lane_inheritance = LaneInheritance()
    with lane_inheritance.during(STEP):
        assert not lane_inheritance.is_slow(REF)


def test_a_write_of_the_slow_lane_is_marked_slow_until_the_last_one_ends(slow: None) -> None:
    lane_inheritance = LaneInheritance()
    with lane_inheritance.during(STEP):
        with lane_inheritance.during(STEP):
            assert lane_inheritance.is_slow(REF)
        assert lane_inheritance.is_slow(REF)
    assert not lane_inheritance.is_slow(REF)


def test_a_failed_write_is_not_marked_slow_any_more(slow: None) -> None:
    lane_inheritance = LaneInheritance()
    with pytest.raises(ValueError, match="refused"), lane_inheritance.during(STEP):
        raise ValueError("refused")
    assert not lane_inheritance.is_slow(REF)


def test_a_step_without_an_object_marks_nothing(slow: None) -> None:
    with LaneInheritance().during(Requeue(1.0)):
        pass


async def test_concurrent_steps_of_a_plan_all_inherit_its_lane(slow: None) -> None:
    lane_inheritance = LaneInheritance()

    async def written() -> bool:
        with lane_inheritance.during(STEP):
            await asyncio.sleep(0)
            return lane_inheritance.is_slow(REF)

    assert all(await asyncio.gather(written(), written()))
