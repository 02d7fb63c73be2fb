"""All image archives of a start: those of the user, and those that Steward makes, which are kept in the cache.

Invariant: a file under `images/` is complete. An archive is written under a lock to a temporary name and renamed.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from steward.local.images import recipes
from steward.local.images.archives import ImageArchive
from steward.local.images.names import full_name
from steward.local.images.recipes import Recipe, Workspace
from steward.local.images.writing import write_archive
from steward.local.locks import exclusive
from steward.local.programs import disk
from steward.local.programs.disk import MIB, DiskRequirement
from steward.local.progress import Progress

# Archives of one image that are kept. Several checkouts share a cache, each with an operator image of its own.
_KEPT = 4
_DISK_BYTES = 600 * MIB


async def ensure_images(
    cache: Path, of_user: Sequence[ImageArchive], progress: Progress
) -> list[ImageArchive]:
    """The archives of all images of a start; an image of the user replaces one of Steward's with the same name."""
    provided = {name for archive in of_user for name in archive.names}
    made = [recipe for recipe in all_recipes() if full_name(recipe.name) not in provided]
    return [*await make_images(made, cache, progress), *of_user]


def all_recipes() -> list[Recipe]:
    return [recipes.pause(), recipes.etcd(), recipes.operators(), recipes.workload()]


async def make_images(made: Iterable[Recipe], cache: Path, progress: Progress) -> list[ImageArchive]:
    """The archives of `made`, each written now unless it is cached."""
    return [await _ensure_one(recipe, cache, progress) for recipe in made]


async def _ensure_one(recipe: Recipe, cache: Path, progress: Progress) -> ImageArchive:
    target = cache / "images" / recipe.file_name
    if not target.exists():
        lock = target.with_name(f".{recipe.prefix}lock")
        async with exclusive(
            lock, lambda pid: progress.report(f"waiting for process {pid}, which makes {recipe.name}")
        ):
            if not target.exists():
                await _make(recipe, target, cache, progress)
    return ImageArchive(target, (full_name(recipe.name),), recipe.version)


async def _make(recipe: Recipe, target: Path, cache: Path, progress: Progress) -> None:
    need = DiskRequirement(
        f"Making the image {recipe.name}", _DISK_BYTES, target.parent, "point XDG_CACHE_HOME at a larger disk"
    )
    disk.require_space(need)
    with (
        disk.translate_disk_full(need),
        tempfile.TemporaryDirectory(prefix="incomplete-", dir=target.parent) as directory,
    ):
        workspace = Workspace(cache, Path(directory) / "root", progress)
        workspace.directory.mkdir()
        entries = await recipe.entries(workspace)
        progress.report(f"making the image {recipe.name}")
        archive = Path(directory) / target.name
        await asyncio.to_thread(write_archive, archive, recipe.name, recipe.settings, entries)
        archive.rename(target)
    _delete_old(recipe, target.parent)


def _delete_old(recipe: Recipe, directory: Path) -> None:
    cached = sorted(directory.glob(f"{recipe.prefix}*.tar"), key=lambda path: path.stat().st_mtime_ns)
    for path in cached[:-_KEPT]:
        path.unlink(missing_ok=True)
