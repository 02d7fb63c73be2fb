"""Progress of object trees: counts, times and messages."""

import asyncio
import re

import pytest

from steward.cli.inspect.object_health import Health
from steward.cli.inspect.object_tree import TreeNode, build_trees
from steward.cli.inspect.progress import ScreenSize, TreeProgress, kind_progress
from steward.cli.terminal.live_tree import LineScreen, LiveScreen, watch_until_ready
from tests.cli.support.tree_objects import CLUSTER, READY, degraded, tree_object, waiting


def trees_with(cells_ready: int, **cluster: object) -> tuple[TreeNode, ...]:
    cells = [
        tree_object(
            f"Cell/{name}", CLUSTER, conditions=READY if number < cells_ready else waiting("gateways")
        )
        for number, name in enumerate("abc")
    ]
    is_ready = READY if cells_ready == 3 else waiting("waiting for cells")
    return build_trees([tree_object(CLUSTER, conditions=is_ready, **cluster), *cells])


def test_objects_are_counted_by_kind_below_their_root() -> None:
    [node] = trees_with(2)
    assert [(part.kind, part.ready, part.total) for part in kind_progress(node)] == [
        ("MultigresCluster", 0, 1),
        ("Cell", 2, 3),
    ]


def test_a_complete_kind_is_reported_once_with_its_time() -> None:
    progress = TreeProgress()
    assert progress.update(trees_with(1), 2.0) == []
    assert progress.update(trees_with(3), 4.5) == [
        "   4.5 s  MultigresCluster shop/db is ready",
        "   4.5 s  MultigresCluster shop/db: 3 Cell ready",
    ]
    assert progress.update(trees_with(3), 9.0) == []
    assert [line.text for line in progress.render(9.0)] == [
        "✓ MultigresCluster shop/db                  4.5 s",
        "✓ └─ Cell                          3 of 3   4.5 s",
    ]


def test_the_time_of_an_incomplete_kind_advances() -> None:
    progress = TreeProgress()
    progress.update(trees_with(1), 2.0)
    assert [(line.health, line.text[-7:]) for line in progress.render(7.5)] == [
        (Health.WAITING, "  7.5 s"),
        (Health.WAITING, "  7.5 s"),
    ]


def test_a_complete_kind_with_a_new_object_is_incomplete_again() -> None:
    progress = TreeProgress()
    progress.update(trees_with(3), 1.0)
    progress.update(trees_with(2), 2.0)
    assert progress.update(trees_with(3), 3.0)[-1] == "   3.0 s  MultigresCluster shop/db: 3 Cell ready"


async def test_watching_ends_when_all_is_ready(capsys: pytest.CaptureFixture[str]) -> None:
    reads = iter([(), trees_with(2), trees_with(3)])

    async def read_trees() -> tuple[TreeNode, ...]:
        return next(reads)

    [node] = await asyncio.wait_for(watch_until_ready(read_trees, LineScreen(), limit=60.0), 60)
    assert node.is_healthy
    assert "3 Cell ready" in capsys.readouterr().out


async def test_watching_ends_when_an_object_has_failed() -> None:
    async def read_trees() -> tuple[TreeNode, ...]:
        return build_trees([tree_object(CLUSTER, conditions=degraded("no such zone"))])

    [node] = await asyncio.wait_for(watch_until_ready(read_trees, LineScreen(), limit=60.0), 60)
    assert not node.is_healthy


def rendered(progress: TreeProgress, size: ScreenSize) -> list[str]:
    return [line.text for line in progress.render(2.0, size)]


def test_a_narrow_terminal_still_shows_every_count_and_time() -> None:
    progress = TreeProgress()
    progress.update(trees_with(2), 2.0)
    assert rendered(progress, ScreenSize(width=40, height=15)) == [
        "… MultigresCluster shop/db         2.0 s",
        "… └─ Cell                 2 of 3   2.0 s",
    ]


def test_a_name_too_long_is_cut_and_its_time_is_not() -> None:
    progress = TreeProgress()
    progress.update(build_trees([tree_object("MultigresCluster/a-name-that-is-long", conditions=READY)]), 2.0)
    assert rendered(progress, ScreenSize(width=40, height=15)) == ["✓ MultigresCluster shop/a-name-…   2.0 s"]


def test_a_low_terminal_hides_complete_kinds_first_and_then_all_but_the_roots() -> None:
    progress = TreeProgress()
    ready = tree_object("Shard/all", CLUSTER, conditions=READY)
    cell = tree_object("Cell/a", CLUSTER, conditions=waiting("gateways"))
    progress.update(build_trees([tree_object(CLUSTER, conditions=waiting("a cell")), ready, cell]), 1.0)
    kinds = {
        height: [
            re.sub(r"[^A-Za-z ]", "", line).split()[0] for line in rendered(progress, ScreenSize(80, height))
        ]
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

    screen, progress = LiveScreen(), TreeProgress()
    progress.update(trees_with(2), 2.0)
    screen.show(progress, [], 2.0)
    console = Console(width=width, force_terminal=True, no_color=True)
    with console.capture() as shown:
        console.print(screen)
    lines = shown.get().rstrip().splitlines()
    assert len(lines) == 2
    assert all(len(line) <= width for line in lines)
