"""Parts that stories of clusters and of fleets share. Pure."""

from collections.abc import Callable, Sequence
from random import Random
from typing import get_args

from tests.chaos.story import AnyAction, ApiFault, ApiFaultKind, Kill, Pause, Settle, Wait

PAUSE_CHANCE = 0.15


Scene = Callable[[Random], list[AnyAction]]


def draw_scenes(
    random: Random, count: tuple[int, int], scenes: Sequence[Scene], weights: Sequence[int]
) -> list[AnyAction]:
    """Between `count` scenes, often with a settled beginning and with pauses in between."""
    actions: list[AnyAction] = []
    if random.random() < 0.7:
        actions.append(Settle())
    for _ in range(random.randint(*count)):
        actions += random.choices(scenes, weights)[0](random)
        if random.random() < 0.5:
            actions.append(Wait(round(random.uniform(0.1, 2.5), 1)))
    return actions


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
