"""Random stories of clusters: valid edits, meddling and faults, drawn from a seeded generator. Pure."""

from collections.abc import Callable
from random import Random
from typing import get_args

from steward.testkit.fake_data_plane.faults import DataPlaneFault
from tests.chaos.common_stories import draw_api_fault, draw_interruption, draw_scenes, draw_storm
from tests.chaos.story import (
    AnyAction,
    Cascade,
    Delete,
    Edit,
    Kill,
    Meddle,
    Meddling,
    Occupy,
    Recreate,
    Settle,
    Start,
    Stop,
    TopologyFault,
    Wait,
)

ZONES = ("z1", "z2", "z3")
EXTERNAL = "external"
ENDS: tuple[Cascade, ...] = ("background", "foreground", "foreground", "namespace")
GROUPS = ("orders", "users")
TOPOLOGY_FAULTS = tuple(fault.value for fault in DataPlaneFault)
MEDDLING: dict[str, tuple[Meddling, ...]] = {
    "services": ("delete", "strip-labels", "edit"),
    "deployments": ("delete", "orphan", "strip-labels", "scale", "edit"),
    "statefulsets": ("delete", "orphan", "foreground", "scale"),
    "cells": ("delete", "orphan", "foreground"),
    "shards": ("delete", "orphan", "foreground"),
    "tablegroups": ("delete", "orphan", "foreground"),
    # Not in the background: a TopoServer waits for all that depends on it, by design.
    "toposervers": ("foreground",),
    "poddisruptionbudgets.policy": ("delete", "strip-labels"),
    "pods": ("delete",),
}


def draw_cluster_actions(random: Random) -> list[AnyAction]:
    actions = draw_scenes(random, (4, 9), _SCENES, _WEIGHTS)
    if random.random() < 0.3:
        actions += _draw_end(random)
    return actions


def draw_unreachable_actions(random: Random) -> list[AnyAction]:
    """The life of a cluster whose external topology server never answers: it ends with its deletion."""
    edits = [each for _ in range(random.randint(0, 3)) for each in _draw_interruption(random)]
    return [Wait(3.0), *edits, Delete(random.choice(("background", "foreground")))]


def _draw_edits(random: Random) -> list[AnyAction]:
    return [_draw_edit(random) for _ in range(random.randint(1, 2))]


def _draw_edit(random: Random) -> Edit:
    return random.choice(_EDITS)(random)


_EDITS: tuple[Callable[[Random], Edit], ...] = (
    lambda random: Edit("cell", random.choice(ZONES), random.choice((None, 0, 1, 2))),
    lambda random: Edit("cell", random.choice(ZONES), random.choice((None, 1))),
    lambda random: Edit("group", random.choice(GROUPS), random.choice((None, 1, 2))),
    # Two servers stay in every cell: with fewer the durability policy does not hold, and a cohort whose servers do not
    # all return after 0 replicas never gets a primary again.
    lambda random: Edit("pool", "main", {"type": "readWrite", "replicasPerCell": random.choice((2, 2, 3))}),
    lambda random: Edit("pool", "reports", random.choice((None, {"type": "readOnly", "replicasPerCell": 1}))),
    lambda random: Edit("pool", "second", random.choice((None, {"type": "readWrite", "replicasPerCell": 1}))),
    lambda random: Edit("size", "", random.choice((2, 3, 4))),
    lambda random: Edit("size", "", random.choice((2, 3, 4))),
    lambda random: Edit(
        "retention", random.choice(("whenDeleted", "whenScaled")), random.choice((None, "Retain", "Delete"))
    ),
    lambda random: Edit(
        "image",
        random.choice(("postgres", "multigateway", "multiorch")),
        f"registry.example.com/app:{random.randint(1, 5)}",
    ),
    lambda random: Edit(
        "logLevel", random.choice(("multigateway", "multipooler")), random.choice((None, "debug", "warn"))
    ),
    lambda random: Edit("podAnnotation", "example.com/team", random.choice((None, "a", "b"))),
    lambda random: Edit("gatewayFailure", "", random.choice(("", "", "never-ready"))),
    lambda random: Edit("updates", "", random.choice(("Auto", "Manual"))),
    lambda random: Edit("bucket", "", random.choice(("", "backups"))),
    lambda random: Edit("broken", "", random.choice((True, False))),
    lambda random: Edit("localTopology", random.choice(ZONES), random.choice((True, None))),
    lambda random: Edit("admins", "", random.choice((1, 2))),
    lambda random: Edit("external", "", random.choice((True, False))),
    lambda random: Edit("template", "", random.choice((True, False))),
    lambda random: Edit("postgresSettings", "", random.choice(("", "work_mem = 8MB", "work_mem = 9MB"))),
)


def _draw_meddling(random: Random) -> list[AnyAction]:
    resource = random.choice(sorted(MEDDLING))
    return [Meddle(resource, random.choice(MEDDLING[resource]), random.randint(0, 7))]


def _draw_api_fault(random: Random) -> list[AnyAction]:
    return [
        draw_api_fault(random, ("", "", "statefulsets", "shards", "services", "deployments")),
        _draw_edit(random),
    ]


def _draw_interruption(random: Random) -> list[AnyAction]:
    return [_draw_edit(random), draw_interruption(random)]


def _draw_topology_fault(random: Random) -> list[AnyAction]:
    fault = TopologyFault(random.choice(TOPOLOGY_FAULTS))
    return [fault, *_draw_edits(random), Wait(round(random.uniform(0.5, 3.0), 1)), TopologyFault()]


def _draw_occupation(random: Random) -> list[AnyAction]:
    zone = random.choice(ZONES)
    return [Occupy(zone), Edit("cell", zone, 1)]


def _draw_absence(random: Random) -> list[AnyAction]:
    """Changes while no operator runs."""
    return [
        Stop(),
        *_draw_edits(random),
        *_draw_meddling(random),
        *([Start()] if random.random() < 0.6 else []),
    ]


def _draw_deletion(random: Random) -> list[AnyAction]:
    cascade: Cascade = random.choice(get_args(Cascade))
    interruption = [draw_interruption(random)] if random.random() < 0.5 else []
    return [Delete(cascade), *interruption, Recreate()]


def _draw_end(random: Random) -> list[AnyAction]:
    before = random.choice((_draw_absence, _draw_death, _draw_death, _draw_meddling, _draw_topology_fault))(
        random
    )
    after = [draw_interruption(random)] if random.random() < 0.4 else []
    return [*before, Delete(random.choice(ENDS)), *after]


def _draw_death(random: Random) -> list[AnyAction]:
    """An operator that dies in the middle of a change, and is down during the next one."""
    edit = random.choice((_draw_edit(random), Edit("size", "", random.choice((2, 3, 4)))))
    kill = Kill(random.choice((1, 2, 3, 4, 6)), random.random() < 0.7, stays_down=True)
    return [edit, kill, *(_draw_meddling(random) if random.random() < 0.5 else [])]


_SCENES: tuple[Callable[[Random], list[AnyAction]], ...] = (
    _draw_edits,
    _draw_interruption,
    _draw_meddling,
    _draw_api_fault,
    lambda random: draw_storm(random, _draw_edits(random)),
    _draw_topology_fault,
    _draw_absence,
    _draw_occupation,
    lambda random: [*_draw_death(random), Start()],
    _draw_deletion,
    lambda _: [Settle()],
)
_WEIGHTS = (6, 5, 4, 4, 3, 2, 2, 1, 1, 1, 2)
