"""Which Tenants may be written now: all of them, or as many as each template's rollout allows.

How far each Tenant is comes from the API server, not from a cache that may lag behind our own last writes: see
`under_way`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import from_timestamp
from steward.runtime.plan.steps import Emit, EventType, Plan
from steward.tenants import reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import Rollout, RolloutStatus
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.registry.rollout_progress import (
    FleetStates,
    Names,
    States,
    is_updated,
    under_way,
)
from steward.tenants.fleet.fleet import is_ready
from steward.tenants.fleet.rollout import Progress, Step, Target, next_step
from steward.tenants.rendering.tenant_manifest import TemplateInUse, WantedTenant

NOBODY: Names = frozenset()


class Past(NamedTuple):
    """What is known from the turns before."""

    statuses: Mapping[str, RolloutStatus | None]
    """By template, how far its rollout was."""
    under_way: Names | None = None
    """None where nobody knows: then all are asked for."""
    refused: Names = NOBODY
    """Those that could not be written: nobody has to wait for them."""


class Turn(NamedTuple):
    """What may be written, and when to look again."""

    write: tuple[WantedTenant, ...]
    waits: bool = False
    """Whether a rollout goes on: Tenants are left for later, or are still coming up."""
    look_again_at: float | None = None
    news: Plan = ()
    under_way: Names | None = None
    """Those whose rollout is counted, those that are to be written included; None where none is."""


class Rollouts:
    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._states = FleetStates(context)

    async def turn(self, wanted: Sequence[WantedTenant], registry: ObjectMeta, past: Past) -> Turn:
        fleets: dict[str, list[WantedTenant]] = defaultdict(list)
        for each in wanted:
            fleets[each.template.name].append(each)
        if not any(_rollout(found[0].template).max_skew for found in fleets.values()):
            return _taken_together([self._told(found, {}, registry, past) for found in fleets.values()])
        states = await self._states.of(wanted, registry, past.under_way)
        if past.under_way is not None and any(self._fails(found, states, past) for found in fleets.values()):
            # A failure stands until somebody edits the template: it is not declared by a cache that may be late.
            states = await self._states.listed(registry)
        return _taken_together([self._told(found, states, registry, past) for found in fleets.values()])

    def _fails(self, wanted: list[WantedTenant], states: States, past: Past) -> bool:
        """Whether this turn would be the one that gives the rollout up."""
        status, known = self._step(wanted, states, past).status, past.statuses.get(wanted[0].template.name)
        return status is not None and status.phase == "Failed" and not _says_the_same(status, known)

    def _step(self, wanted: list[WantedTenant], states: States, past: Past) -> Step:
        template = wanted[0].template
        target = Target(template.generation, _rollout(template))
        progress = [_progress(each, states, past.refused) for each in wanted]
        return next_step(progress, target, past.statuses.get(template.name), self._context.clock.now())

    def _told(self, wanted: list[WantedTenant], states: States, registry: ObjectMeta, past: Past) -> Turn:
        name = wanted[0].template.name
        key = Key(registry.namespace, name)
        step = self._step(wanted, states, past)
        self._context.tell_rollout(key, step.status)
        if step.status is None:
            return Turn(tuple(wanted))
        turn = _throttled(wanted, states, step)
        held_back = len(wanted) - len(turn.write)
        known = past.statuses.get(name)
        return turn._replace(news=rollout_news(Ref(TEMPLATE, key), step.status, known, held_back))


def _throttled(wanted: list[WantedTenant], states: States, step: Step) -> Turn:
    """Those whose turn it is, and those that have the version already: a changed row of theirs does not wait."""
    chosen = frozenset(step.write)
    write = tuple(each for each in wanted if each.name in chosen or is_updated(each, states))
    goes_on = step.status is not None and step.status.phase == "InProgress"
    return Turn(write, goes_on, step.look_again_at, under_way=under_way(wanted, states) | chosen)


def _taken_together(turns: Sequence[Turn]) -> Turn:
    times = [turn.look_again_at for turn in turns if turn.look_again_at is not None]
    counted = [turn.under_way for turn in turns if turn.under_way is not None]
    return Turn(
        write=tuple(each for turn in turns for each in turn.write),
        waits=any(turn.waits for turn in turns),
        look_again_at=min(times, default=None),
        news=tuple(step for turn in turns for step in turn.news),
        under_way=NOBODY.union(*counted) if counted else None,
    )


def rollout_news(
    template: Ref, now: RolloutStatus | None, before: RolloutStatus | None, held_back: int
) -> Plan:
    """That a rollout was stopped, and that Tenants wait for their turn: each once for a version of the template."""
    if now is None:
        return ()
    known = before if before is not None and before.target_generation == now.target_generation else None
    if now.phase == "Failed" and (known is None or known.phase != "Failed"):
        return (Emit(template, reasons.ROLLOUT_FAILED, str(now.message), EventType.WARNING),)
    if now.phase == "InProgress" and held_back and known is None:
        told = f"{held_back} Tenants wait until others have rolled out, as maxSkew says: {now.message}"
        return (Emit(template, reasons.ROLLOUT_THROTTLED, told),)
    return ()


def _says_the_same(now: RolloutStatus, before: RolloutStatus | None) -> bool:
    if before is None:
        return False
    return (now.phase, now.target_generation) == (before.phase, before.target_generation)


def _progress(wanted: WantedTenant, states: States, refused: Names) -> Progress:
    is_refused = wanted.name in refused
    tenant = states.get(wanted.name)
    if tenant is None:
        return Progress(wanted.name, 0, is_refused=is_refused)
    made = tenant.metadata.creation_timestamp
    made_at = from_timestamp(made) if made else 0.0
    return Progress(wanted.name, tenant.spec.template_generation, is_ready(tenant), made_at, is_refused)


def _rollout(template: TemplateInUse) -> Rollout:
    return Rollout() if template.spec.rollout is UNSET else template.spec.rollout
