"""Parts that stories of clusters and of fleets share. Pure."""

from collections.abc import Sequence
from random import Random
from typing import get_args

from tests.chaos.story import AnyAction, ApiFault, ApiFaultKind, Kill, Pause, Wait

PAUSE_CHANCE = 0.15


def draw_api_fault(random: Random, resources: tuple[str, ...]) -> ApiFault:
    return ApiFault(
        random.choice(get_args(ApiFaultKind)), random.choice(resources), random.choice((1, 2, 4, 12))
    )


def draw_interruption(random: Random) -> AnyAction:
    if random.random() < PAUSE_CHANCE:
        return Pause()
    return Kill(random.choice((1, 1, 2, 3, 5, 8)), random.random() < 0.5)


def draw_storm(random: Random, edits: Sequence[AnyAction]) -> list[AnyAction]:
    """Several faults at once while the operator is killed and restarted."""
    faults: list[AnyAction] = [draw_api_fault(random, ("",)) for _ in range(3)]
    return [*faults, *edits, draw_interruption(random), Wait(0.5), draw_interruption(random)]
