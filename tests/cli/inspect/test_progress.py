"""Trees that grow: what is counted, what is timed, and what is told."""

import asyncio
import re

import pytest

from steward.cli.inspect.object_tree import Branch, Health, families
from steward.cli.inspect.progress import Growth, Room, parts
from steward.cli.terminal.live_tree import LineScreen, Picture, watch_growth
from tests.cli.inspect.test_object_tree import CLUSTER, READY, degraded, thing, waiting


def world(cells_ready: int, **cluster: object) -> tuple[Branch, ...]:
    cells = [
        thing(f"Cell/{name}", CLUSTER, conditions=READY if number < cells_ready else waiting("gateways"))
        for number, name in enumerate("abc")
    ]
    is_ready = READY if cells_ready == 3 else waiting("waiting for cells")
    return families([thing(CLUSTER, conditions=is_ready, **cluster), *cells])


def test_parts_are_counted_by_kind_below_their_root() -> None:
    [branch] = world(2)
    assert [(part.kind, part.ready, part.total) for part in parts(branch)] == [
        ("MultigresCluster", 0, 1),
        ("Cell", 2, 3),
    ]


def test_a_kind_is_told_once_with_the_time_at_which_it_was_complete() -> None:
    growth = Growth()
    assert growth.see(world(1), 2.0) == []
    assert growth.see(world(3), 4.5) == [
        "   4.5 s  MultigresCluster shop/db is ready",
        "   4.5 s  MultigresCluster shop/db: 3 Cell ready",
    ]
    assert growth.see(world(3), 9.0) == []
    assert [line.text for line in growth.lines(9.0)] == [
        "✓ MultigresCluster shop/db                  4.5 s",
        "✓ └─ Cell                          3 of 3   4.5 s",
    ]


def test_the_clock_of_what_is_not_complete_goes_on() -> None:
    growth = Growth()
    growth.see(world(1), 2.0)
    assert [(line.health, line.text[-7:]) for line in growth.lines(7.5)] == [
        (Health.WAITING, "  7.5 s"),
        (Health.WAITING, "  7.5 s"),
    ]


def test_what_has_grown_since_is_not_complete_any_more() -> None:
    growth = Growth()
    growth.see(world(3), 1.0)
    growth.see(world(2), 2.0)
    assert growth.see(world(3), 3.0)[-1] == "   3.0 s  MultigresCluster shop/db: 3 Cell ready"


async def test_watching_ends_when_all_is_ready(capsys: pytest.CaptureFixture[str]) -> None:
    seen = iter([(), world(2), world(3)])

    async def look() -> tuple[Branch, ...]:
        return next(seen)

    [branch] = await asyncio.wait_for(watch_growth(look, LineScreen(), limit=60.0), 60)
    assert branch.is_well
    assert "3 Cell ready" in capsys.readouterr().out


async def test_watching_does_not_wait_for_what_waits_for_a_person() -> None:
    async def look() -> tuple[Branch, ...]:
        return families([thing(CLUSTER, conditions=degraded("no such zone"))])

    [branch] = await asyncio.wait_for(watch_growth(look, LineScreen(), limit=60.0), 60)
    assert not branch.is_well


def text_of(growth: Growth, room: Room) -> list[str]:
    return [line.text for line in growth.lines(2.0, room)]


def test_a_narrow_terminal_still_shows_every_count_and_time() -> None:
    growth = Growth()
    growth.see(world(2), 2.0)
    assert text_of(growth, Room(width=40, height=15)) == [
        "… MultigresCluster shop/db         2.0 s",
        "… └─ Cell                 2 of 3   2.0 s",
    ]


def test_a_name_too_long_is_cut_and_its_time_is_not() -> None:
    growth = Growth()
    growth.see(families([thing("MultigresCluster/a-name-that-is-long", conditions=READY)]), 2.0)
    assert text_of(growth, Room(width=40, height=15)) == ["✓ MultigresCluster shop/a-name-…   2.0 s"]


def test_on_a_low_terminal_what_is_complete_is_left_out_and_then_all_but_the_roots() -> None:
    growth = Growth()
    ready = thing("Shard/all", CLUSTER, conditions=READY)
    cell = thing("Cell/a", CLUSTER, conditions=waiting("gateways"))
    growth.see(families([thing(CLUSTER, conditions=waiting("a cell")), ready, cell]), 1.0)
    kinds = {
        height: [re.sub(r"[^A-Za-z ]", "", line).split()[0] for line in text_of(growth, Room(80, height))]
        for height in (3, 2, 1)
    }
    assert kinds == {
        3: ["MultigresCluster", "Cell", "Shard"],
        2: ["MultigresCluster", "Cell"],
        1: ["MultigresCluster"],
    }


@pytest.mark.parametrize("width", [20, 100])
def test_the_picture_is_cut_to_the_terminal_and_never_wrapped(width: int) -> None:
    from rich.console import Console

    picture, growth = Picture(), Growth()
    growth.see(world(2), 2.0)
    picture.show(growth, [], 2.0)
    console = Console(width=width, force_terminal=True, no_color=True)
    with console.capture() as shown:
        console.print(picture)
    lines = shown.get().rstrip().splitlines()
    assert len(lines) == 2
    assert all(len(line) <= width for line in lines)
