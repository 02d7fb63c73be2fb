from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from steward.local.images import catalog
from steward.local.images.archives import read_archive, read_directory
from steward.local.images.layers import LayerEntry, LayerText
from steward.local.images.recipes import Recipe, Workspace
from steward.local.images.writing import ImageSettings
from steward.local.progress import ProgressCount, SilentProgress
from tests.local.images.support.tars import docker_manifest, write_tar


class RecordedProgress:
    def __init__(self) -> None:
        self.activities: list[str] = []

    def report(self, activity: str, share: ProgressCount | None = None) -> None:
        self.activities.append(activity)


async def _entries(workspace: Workspace) -> Sequence[LayerEntry]:
    return [LayerText("app", "x")]


RECIPE = Recipe("app:1", ImageSettings(("/app",)), "one", _entries)


async def test_an_image_is_made_once(tmp_path: Path) -> None:
    progress = RecordedProgress()
    first = await catalog.make_images([RECIPE], tmp_path, progress)
    second = await catalog.make_images([RECIPE], tmp_path, progress)
    assert first == second
    assert progress.activities == ["making the image app:1"]
    assert read_archive(first[0].path).names == first[0].names == ("docker.io/library/app:1",)


async def test_other_inputs_are_another_archive_with_another_version(tmp_path: Path) -> None:
    changed = dataclasses.replace(RECIPE, inputs="two")
    [first], [second] = [
        await catalog.make_images([recipe], tmp_path, SilentProgress()) for recipe in (RECIPE, changed)
    ]
    assert first.path != second.path
    assert first.version != second.version


async def test_only_the_newest_archives_of_an_image_are_kept(tmp_path: Path) -> None:
    versions = [dataclasses.replace(RECIPE, inputs=str(number)) for number in range(6)]
    made = await catalog.make_images(versions, tmp_path, SilentProgress())
    assert [archive.path.exists() for archive in made] == [False, False, True, True, True, True]


async def test_concurrent_starts_make_an_image_once(tmp_path: Path) -> None:
    progress = RecordedProgress()
    await asyncio.gather(*(catalog.make_images([RECIPE], tmp_path, progress) for _ in range(3)))
    assert progress.activities.count("making the image app:1") == 1


async def test_a_failed_recipe_leaves_no_file(tmp_path: Path) -> None:
    async def failing(workspace: Workspace) -> Sequence[LayerEntry]:
        (workspace.directory / "partial").write_text("x")
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        await catalog.make_images([dataclasses.replace(RECIPE, entries=failing)], tmp_path, SilentProgress())
    assert [path.name for path in (tmp_path / "images").iterdir() if not path.name.endswith("lock")] == []


async def test_an_image_of_the_user_replaces_the_one_that_steward_makes(tmp_path: Path) -> None:
    names = [recipe.name for recipe in catalog.all_recipes()]
    write_tar(tmp_path / "all.tar", docker_manifest(*names))
    of_user = read_directory(tmp_path)
    archives = await catalog.ensure_images(tmp_path / "cache", of_user, SilentProgress())
    assert [archive.path for archive in archives] == [tmp_path / "all.tar"]
