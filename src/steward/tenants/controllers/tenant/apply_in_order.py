"""Applies all objects of a Tenant, level by level: independent objects concurrently, dependents after them.

Nothing here waits for readiness. A level whose dependencies are not ready is left to a later reconcile, which a change
of the dependency triggers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from steward.kube.objects.kinds import NAMESPACE, SERVICE_ACCOUNT
from steward.tenants.controllers.common.concurrency import gather_all
from steward.tenants.controllers.tenant.apply import ObjectApplier
from steward.tenants.controllers.tenant.apply_context import ApplyContext, was_applied
from steward.tenants.objects.dependencies import apply_levels, dependency_edges
from steward.tenants.objects.desired import DesiredObject
from steward.tenants.objects.pod_security import KINDS_WITHOUT_PODS
from steward.tenants.status.progress import ResourceProgress, ResourceState, check_dependencies

MAX_CONCURRENT: Final = 16
"""Objects of one Tenant that are applied concurrently; the executor bounds those of the process."""


async def apply_in_order(
    applier: ObjectApplier, objects: Sequence[DesiredObject], context: ApplyContext
) -> list[ResourceProgress]:
    """The progress of each object, in the order in which they are given."""
    slots = asyncio.Semaphore(MAX_CONCURRENT)
    by_id = {each.id: each for each in reversed(objects)}
    done: dict[str, ResourceProgress] = {}

    async def apply_each(ids: Iterable[str]) -> None:
        chosen = tuple(ids)
        work = (_limited(slots, _apply_unless_blocked(applier, by_id[id], context, done)) for id in chosen)
        found.update(zip(chosen, await gather_all(work), strict=True))

    for level in apply_levels(dependency_edges(each.resource for each in objects)):
        found = dict[str, ResourceProgress]()
        parts = split_level(level, by_id)
        await apply_each(parts.namespaces)
        await gather_all((apply_each(parts.without_pods), _one_by_one(apply_each, parts.with_accounts)))
        done.update(found)
    return [done[each.id] for each in objects]


async def _one_by_one(
    apply_each: Callable[[Iterable[str]], Awaitable[None]], groups: Iterable[tuple[str, ...]]
) -> None:
    for ids in groups:
        await apply_each(ids)


class LevelParts(NamedTuple):
    """The ids of one level. Namespaces come first, and ServiceAccounts before what may have pods: what other objects of
    the level may be depends on them (`access`), even where the template has no dependIds. Nothing else waits: of
    the writes of a Tenant that of a Service takes longest."""

    namespaces: tuple[str, ...]
    without_pods: tuple[str, ...]
    with_accounts: tuple[tuple[str, ...], tuple[str, ...]]


def split_level(level: Iterable[str], by_id: Mapping[str, DesiredObject]) -> LevelParts:
    kinds = {id: by_id[id].ref.kind for id in level}
    namespaces = tuple(id for id, kind in kinds.items() if kind == NAMESPACE)
    accounts = tuple(id for id, kind in kinds.items() if kind == SERVICE_ACCOUNT)
    others = [id for id in kinds if id not in (*namespaces, *accounts)]
    without_pods = tuple(id for id in others if kinds[id] in KINDS_WITHOUT_PODS)
    return LevelParts(
        namespaces, without_pods, (accounts, tuple(id for id in others if id not in without_pods))
    )


async def _limited(
    slots: asyncio.Semaphore, work: Coroutine[None, None, ResourceProgress]
) -> ResourceProgress:
    async with slots:
        return await work


async def _apply_unless_blocked(
    applier: ObjectApplier,
    desired: DesiredObject,
    context: ApplyContext,
    done: Mapping[str, ResourceProgress],
) -> ResourceProgress:
    states: dict[str, ResourceState] = {id: progress.state for id, progress in done.items()}
    found = check_dependencies(desired.resource, states)
    if found.progress is not None and not _is_maintained(applier, found.progress, desired, context):
        return found.progress
    return (await applier.apply(desired, context))._replace(failed_dependencies=found.failed_dependencies)


def _is_maintained(
    applier: ObjectApplier, blocked: ResourceProgress, desired: DesiredObject, context: ApplyContext
) -> bool:
    """An object that exists in this generation is still applied while a dependency restarts: edits are reverted."""
    if blocked.state is not ResourceState.BLOCKED or not was_applied(desired, context):
        return False
    return applier.reader.read_cached(desired.ref) is not None
