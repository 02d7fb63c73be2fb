import asyncio
from collections.abc import Iterator

import pytest

from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.runtime.controller.workqueue import Lane
from steward.runtime.plan.lanes import Echoes, lane_in_hand
from steward.runtime.plan.steps import Delete, Requeue

REF = Ref(CONFIG_MAP, Key("shop", "a"))
STEP = Delete(REF, "uid", "it is time")


@pytest.fixture
def slow() -> Iterator[None]:
    token = lane_in_hand.set(Lane.SLOW)
    yield
    lane_in_hand.reset(token)


def test_what_the_fast_lane_writes_is_news() -> None:
    echoes = Echoes()
    with echoes.of(STEP):
        assert not echoes.is_slow(REF)


def test_what_the_slow_lane_writes_is_an_echo_until_the_last_of_its_writes_is_over(slow: None) -> None:
    echoes = Echoes()
    with echoes.of(STEP):
        with echoes.of(STEP):
            assert echoes.is_slow(REF)
        assert echoes.is_slow(REF)
    assert not echoes.is_slow(REF)


def test_a_write_that_fails_leaves_no_echo_behind(slow: None) -> None:
    echoes = Echoes()
    with pytest.raises(ValueError, match="refused"), echoes.of(STEP):
        raise ValueError("refused")
    assert not echoes.is_slow(REF)


def test_a_step_that_touches_nothing_has_no_echo(slow: None) -> None:
    with Echoes().of(Requeue(1.0)):
        pass


async def test_the_steps_of_a_plan_that_go_out_together_are_all_of_its_lane(slow: None) -> None:
    echoes = Echoes()

    async def written() -> bool:
        with echoes.of(STEP):
            await asyncio.sleep(0)
            return echoes.is_slow(REF)

    assert all(await asyncio.gather(written(), written()))
