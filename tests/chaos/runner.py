"""Runs lives, several at a time, and shrinks the stories that fail."""

import asyncio
import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from tests.chaos import cluster_life
from tests.chaos.cluster_life import ClusterLife
from tests.chaos.environment import Environment
from tests.chaos.fleet_database import FleetDatabase, ServerDatabase, SqliteDatabase
from tests.chaos.fleet_life import FleetLife
from tests.chaos.life import Outcome, play
from tests.chaos.shrink import Shrinker
from tests.chaos.story import AnyAction, Story

_numbers = itertools.count(1)


class ShrinkLimits(NamedTuple):
    """How many lives may be played to shrink a story, and how many at a time."""

    runs: int
    at_once: int


async def run_story(environment: Environment, story: Story) -> Outcome:
    """Play one story in two new namespaces."""
    name = f"chaos-{os.getpid()}-{next(_numbers)}"
    namespaces = (f"{name}-a", f"{name}-b")
    directory = environment.directory / namespaces[0]
    directory.mkdir()
    if story.subject == "cluster":
        subject = ClusterLife(environment, namespaces, story.variant)
        return await play(
            environment,
            story,
            subject,
            {**cluster_life.SETTINGS, "connect_to": environment.data_plane.connect_to},
        )
    fleet = FleetLife(environment, namespaces, await _database(environment, story.variant, directory))
    return await play(environment, story, fleet, {"sqlite_root": str(directory)})


async def _database(environment: Environment, kind: str, directory: Path) -> FleetDatabase:
    if kind == "sqlite":
        return SqliteDatabase(directory)
    database = ServerDatabase(kind, await environment.database(kind))
    await database.create()
    return database


async def run_stories(
    environment: Environment, stories: Sequence[Story], at_once: int, on_end: Callable[[Outcome], None]
) -> list[Outcome]:
    gate = asyncio.Semaphore(at_once)

    async def run(story: Story) -> Outcome:
        async with gate:
            outcome = await run_story(environment, story)
            on_end(outcome)
            return outcome

    return list(await asyncio.gather(*map(run, stories)))


async def shrink(
    environment: Environment, story: Story, limits: ShrinkLimits, on_run: Callable[[Story, bool], None]
) -> Story:
    """A shorter story that fails, too."""

    async def fails(actions: Sequence[AnyAction]) -> bool:
        shorter = replace(story, actions=tuple(actions))
        failed = bool((await run_story(environment, shorter)).failures)
        on_run(shorter, failed)
        return failed

    return replace(story, actions=tuple(await Shrinker(fails, *limits).shrink(story.actions)))
