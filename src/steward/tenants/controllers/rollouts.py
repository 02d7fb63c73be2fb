"""Which Tenants may be written now: all of them, or as many as each template's rollout allows.

How far each Tenant is comes from the API server, not from a cache that may lag behind our own last writes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.kube.kinds import Key, Ref
from steward.kube.meta import ObjectMeta
from steward.kube.options import ListQuery
from steward.kube.timestamps import from_timestamp
from steward.runtime.plan import Emit, EventType, Plan
from steward.tenants import marks, reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import Rollout, RolloutStatus
from steward.tenants.controllers.ground import Ground
from steward.tenants.fleet import is_ready
from steward.tenants.names import label_value
from steward.tenants.rollout import Progress, Step, Target, next_step
from steward.tenants.rules import TEMPLATE, TENANT_KIND
from steward.tenants.views import Tenant
from steward.tenants.wanted import TemplateInUse, WantedTenant


class Turn(NamedTuple):
    """What may be written, and when to look again."""

    write: tuple[WantedTenant, ...]
    waits: bool
    """Whether a rollout goes on: Tenants are left for later, or are still coming up."""
    look_again_at: float | None
    news: Plan


class Rollouts:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def turn(
        self, wanted: Sequence[WantedTenant], registry: ObjectMeta, before: Mapping[str, RolloutStatus | None]
    ) -> Turn:
        by_template: dict[str, list[WantedTenant]] = defaultdict(list)
        for each in wanted:
            by_template[each.template.name].append(each)
        throttled = any(_rollout(found[0].template).max_skew for found in by_template.values())
        live = await self._live(registry) if throttled else {}
        turns = [self._of_template(found, live, registry, before) for found in by_template.values()]
        times = [turn.look_again_at for turn in turns if turn.look_again_at is not None]
        return Turn(
            write=tuple(each for turn in turns for each in turn.write),
            waits=any(turn.waits for turn in turns),
            look_again_at=min(times, default=None),
            news=tuple(step for turn in turns for step in turn.news),
        )

    async def _live(self, registry: ObjectMeta) -> dict[str, Tenant]:
        query = ListQuery(
            namespace=registry.namespace, label_selector=f"{marks.REGISTRY}={label_value(registry.name)}"
        )
        found = await self._ground.client.list(TENANT_KIND, query, Tenant)
        return {tenant.metadata.name: tenant for tenant in found.items}

    def _of_template(
        self,
        wanted: list[WantedTenant],
        live: Mapping[str, Tenant],
        registry: ObjectMeta,
        before: Mapping[str, RolloutStatus | None],
    ) -> Turn:
        template = wanted[0].template
        key = Key(registry.namespace, template.name)
        known = before.get(template.name)
        target = Target(template.generation, _rollout(template))
        step = next_step([_progress(each, live) for each in wanted], target, known, self._ground.clock.now())
        self._ground.tell_rollout(key, step.status)
        if step.status is None:
            return Turn(tuple(wanted), False, None, ())
        return _throttled(wanted, live, step, key, known)


def _throttled(
    wanted: list[WantedTenant],
    live: Mapping[str, Tenant],
    step: Step,
    key: Key,
    known: RolloutStatus | None,
) -> Turn:
    """Those whose turn it is, and those that have the version already: a changed row of theirs does not wait."""
    chosen = set(step.write)
    write = tuple(each for each in wanted if each.name in chosen or _is_updated(each, live))
    news = rollout_news(Ref(TEMPLATE, key), step.status, known, len(wanted) - len(write))
    goes_on = step.status is not None and step.status.phase == "InProgress"
    return Turn(write, goes_on, step.look_again_at, news)


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


def _is_updated(wanted: WantedTenant, live: Mapping[str, Tenant]) -> bool:
    tenant = live.get(wanted.name)
    return tenant is not None and tenant.spec.template_generation == wanted.template.generation


def _progress(wanted: WantedTenant, live: Mapping[str, Tenant]) -> Progress:
    tenant = live.get(wanted.name)
    if tenant is None:
        return Progress(wanted.name, 0)
    made = tenant.metadata.creation_timestamp
    made_at = from_timestamp(made) if made else 0.0
    return Progress(wanted.name, tenant.spec.template_generation, is_ready(tenant), made_at)


def _rollout(template: TemplateInUse) -> Rollout:
    return Rollout() if template.spec.rollout is UNSET else template.spec.rollout
