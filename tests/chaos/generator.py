"""The story of a life, from the seed and the number of the life: the same arguments give the same story."""

from pathlib import Path
from random import Random

from tests.chaos.cluster_stories import EXTERNAL, draw_cluster_actions, draw_unreachable_actions
from tests.chaos.fleet_stories import draw_fleet_actions
from tests.chaos.story import Story

DATABASES = ("postgres", "mysql", "sqlite")


def draw_story(seed: int, number: int) -> Story:
    random = Random(f"{seed}/{number}")
    origin = f"seed {seed}, life {number}"
    if random.random() < 0.6:
        if random.random() < 0.08:
            return Story("cluster", tuple(draw_unreachable_actions(random)), EXTERNAL, origin)
        return Story("cluster", tuple(draw_cluster_actions(random)), origin=origin)
    return Story("fleet", tuple(draw_fleet_actions(random)), random.choice(DATABASES), origin)


def known_stories() -> list[Path]:
    """Stories that once failed."""
    return sorted(Path(__file__).with_name("stories").glob("*.json"))
