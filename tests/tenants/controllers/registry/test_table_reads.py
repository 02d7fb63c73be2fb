"""Reads beside the reconciles: one at a time for a registry, and none that fails harms anybody."""

import asyncio
from typing import Any

import pytest

from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Key
from steward.tenants.controllers.registry.table_reads import Inputs, Readings
from steward.tenants.errors import BrokenRead, Unreachable
from steward.tenants.sources.rows import Rows

PROD = Key("shop", "prod")
INPUTS = Inputs(None, "u-1", 1, "", ())
ROWS = Rows(0, (), frozenset(), ())


class Woken:
    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.event = asyncio.Event()

    def __call__(self, key: Key) -> None:
        self.keys.append(key)
        self.event.set()


@pytest.mark.parametrize(
    ("changed", "table", "tenants"),
    [
        ({"approval": "2-abc"}, True, True),
        ({"templates": ("u-2", 1)}, True, False),
        ({"generation": 2}, False, False),
        ({"uid": "u-9"}, False, False),
        ({"term": "another"}, False, False),
    ],
)
def test_what_a_change_means_for_rows_and_tenants(
    changed: dict[str, Any], table: bool, tenants: bool
) -> None:
    now = INPUTS._replace(**changed)
    assert INPUTS.describes_the_table_of(now) == table
    assert INPUTS.gives_the_tenants_of(now) == tenants


async def test_a_read_that_ended_wakes_its_registry_once() -> None:
    woken = Woken()
    readings = Readings(SystemClock(), woken)

    async def read() -> Rows:
        return ROWS

    readings.begin(PROD, INPUTS, read)
    assert readings.is_under_way(PROD)
    await woken.event.wait()
    finished = readings.take(PROD)
    assert finished is not None
    assert (finished.rows, finished.error, finished.inputs) == (ROWS, None, INPUTS)
    assert readings.take(PROD) is None
    assert not readings.is_under_way(PROD)
    assert woken.keys == [PROD]


@pytest.mark.parametrize(
    ("raised", "seen"), [(Unreachable("no answer"), Unreachable), (RuntimeError("driver"), BrokenRead)]
)
async def test_whatever_a_read_raises_is_a_failed_read(raised: Exception, seen: type[Exception]) -> None:
    woken = Woken()
    readings = Readings(SystemClock(), woken)

    async def read() -> Rows:
        raise raised

    readings.begin(PROD, INPUTS, read)
    await woken.event.wait()
    finished = readings.take(PROD)
    assert finished is not None
    assert finished.rows is None
    assert isinstance(finished.error, seen)


async def test_a_read_of_a_registry_that_is_gone_is_ended() -> None:
    readings = Readings(SystemClock(), Woken())
    ended = asyncio.Event()

    async def read() -> Rows:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ROWS

    readings.begin(PROD, INPUTS, read)
    await asyncio.sleep(0)
    readings.forget(PROD)
    await ended.wait()
    assert not readings.is_under_way(PROD)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (INPUTS._replace(approval="2-abc"), True),
        (INPUTS._replace(templates=(1,)), True),
        (INPUTS._replace(generation=2), False),
        (INPUTS._replace(uid="u-2"), False),
        (INPUTS._replace(term=object()), False),
    ],
    ids=["approval", "templates", "spec", "made-again", "another-term"],
)
def test_rows_hold_for_the_spec_that_they_were_read_for(other: Inputs, same: bool) -> None:
    assert other.describes_the_table_of(INPUTS) is same
