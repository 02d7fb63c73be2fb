"""Random stories of fleets: valid edits of rows and templates, meddling and faults. Pure."""

from collections.abc import Callable
from random import Random

from tests.chaos.common_stories import draw_api_fault, draw_interruption, draw_scenes, draw_storm
from tests.chaos.story import (
    AnyAction,
    Approve,
    DatabaseFault,
    DatabaseFaultKind,
    Delete,
    Edit,
    Meddle,
    Meddling,
    Occupy,
    Recreate,
    Settle,
    Start,
    Stop,
    Wait,
)

UIDS = tuple(f"t{number}" for number in range(1, 10))
PLANS = ("basic", "gold")
TEMPLATES = ("web", "jobs")
FEATURES = ("deployment", "secret", "service", "gold", "once", "retained", "autoscaled")
DATABASE_FAULTS: tuple[DatabaseFaultKind, ...] = ("refuse", "silent", "cut", "empty")
MEDDLING: dict[str, tuple[Meddling, ...]] = {
    "configmaps": ("delete", "edit", "strip-labels"),
    "deployments.apps": ("delete", "scale", "orphan"),
    "services": ("delete",),
    "secrets": ("delete",),
    "tenants": ("delete",),
}
TOO_LONG = 1_200_000


def draw_fleet_actions(random: Random) -> list[AnyAction]:
    actions = draw_scenes(random, (5, 10), _SCENES, _WEIGHTS)
    if random.random() < 0.15:
        actions += [Delete(), draw_interruption(random)]
    return actions


def _draw_edit(random: Random) -> Edit:
    return random.choice(_EDITS)(random)


def _draw_row(random: Random) -> Edit:
    value = random.choice(
        (None, {"plan": random.choice(PLANS)}, {"plan": random.choice(PLANS)}, {"active": False})
    )
    return Edit("row", random.choice(UIDS), value)


def _draw_template(random: Random) -> Edit:
    features = sorted(random.sample(FEATURES, random.randint(1, 4)))
    return Edit("template", random.choice(TEMPLATES), {"version": random.randint(1, 9), "features": features})


_EDITS: tuple[Callable[[Random], Edit], ...] = (
    _draw_row,
    _draw_row,
    _draw_row,
    _draw_template,
    _draw_template,
    lambda _: Edit("template", "jobs"),
    # A uid of its own: the Tenant of a row that becomes invalid is kept, and a fresh fleet has none.
    lambda random: Edit("row", "huge", random.choice((None, {"host_length": TOO_LONG}))),
    lambda random: Edit("broken", "", random.choice((True, False))),
    lambda random: Edit("guard", "maxPercent", random.choice((None, 10, 50, 100))),
    lambda random: Edit("guard", "gracePeriod", random.choice((None, "2s"))),
)


def _draw_edits(random: Random) -> list[AnyAction]:
    return [_draw_edit(random) for _ in range(random.randint(1, 3))]


def _draw_meddling(random: Random) -> list[AnyAction]:
    resource = random.choice(sorted(MEDDLING))
    return [Meddle(resource, random.choice(MEDDLING[resource]), random.randint(0, 9))]


def _draw_interruption(random: Random) -> list[AnyAction]:
    return [_draw_edit(random), draw_interruption(random)]


def _draw_api_fault(random: Random) -> list[AnyAction]:
    return [draw_api_fault(random, ("", "", "tenants", "configmaps", "deployments")), _draw_edit(random)]


def _draw_database_fault(random: Random) -> list[AnyAction]:
    fault = DatabaseFault(random.choice(DATABASE_FAULTS))
    return [fault, *_draw_edits(random), Wait(round(random.uniform(1.0, 4.0), 1)), DatabaseFault()]


def _draw_absence(random: Random) -> list[AnyAction]:
    """Changes while no operator runs."""
    return [Stop(), *_draw_edits(random), *_draw_meddling(random), Start()]


def _draw_occupation(random: Random) -> list[AnyAction]:
    uid = random.choice(UIDS)
    return [Occupy(uid), Edit("row", uid, {"plan": random.choice(PLANS)})]


def _draw_deletion(random: Random) -> list[AnyAction]:
    interruption = [draw_interruption(random)] if random.random() < 0.5 else []
    return [Delete(), *interruption, Recreate()]


def _draw_autoscaling(random: Random) -> list[AnyAction]:
    """Another manager scales Deployments while the operator applies a new version of them."""
    features = ["autoscaled", *random.sample(("secret", "service"), 1)]
    edit = Edit("template", "web", {"version": random.randint(1, 9), "features": features})
    scales = [Meddle("deployments.apps", "scale", random.randint(0, 9)) for _ in range(6)]
    return [edit, *scales]


_SCENES: tuple[Callable[[Random], list[AnyAction]], ...] = (
    _draw_edits,
    _draw_interruption,
    _draw_meddling,
    _draw_api_fault,
    lambda random: draw_storm(random, _draw_edits(random)),
    _draw_database_fault,
    _draw_absence,
    _draw_autoscaling,
    _draw_occupation,
    _draw_deletion,
    lambda _: [Settle(), Approve()],
    lambda _: [Settle()],
)
_WEIGHTS = (12, 8, 6, 8, 6, 8, 4, 4, 2, 1, 4, 4)
