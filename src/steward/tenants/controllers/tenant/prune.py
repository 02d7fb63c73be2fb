"""Lets objects go: deleted, or kept and marked, as was written on each of them when it was made.

Whatever fails is told by its name and stays recorded, so that it is tried again: nothing is forgotten because it was
hard to delete. What is not ours, by its own labels and owners, is never touched.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.kube.client.client import Client
from steward.kube.clock import Clock
from steward.kube.errors import ApiError, Conflict, Forbidden, NoSuchKind, TransportError
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.patches import MergePatch
from steward.runtime.plan.executor import PlanExecutor
from steward.runtime.plan.steps import Delete, Emit, Patch, Plan, Step
from steward.tenants import reasons
from steward.tenants.controllers.common.concurrency import together
from steward.tenants.controllers.tenant.observe import Eyes, Seen
from steward.tenants.labels import REMOVED_FROM_TEMPLATE
from steward.tenants.objects.api_errors import told
from steward.tenants.objects.orphans import Applied, Fate, Owner, fate_of, is_ours, orphan_patch


class Leaving(NamedTuple):
    """Why objects go, and on whose behalf."""

    tenant: Ref
    owner: Owner
    executor: PlanExecutor
    reason: str


class Left(NamedTuple):
    """What became of one object."""

    applied: Applied
    is_gone: bool
    """Gone, kept with its marks, or never ours."""
    problem: str = ""
    is_hidden: bool = False
    """We may not even look at it."""


class Cleaner:
    def __init__(self, client: Client, eyes: Eyes, clock: Clock) -> None:
        self._client = client
        self._eyes = eyes
        self._clock = clock

    async def clean(self, objects: Iterable[Applied], leaving: Leaving) -> list[Left]:
        """All at once: they do not depend on each other."""
        return await together(self._let_go(found, leaving) for found in objects)

    async def _let_go(self, applied: Applied, leaving: Leaving) -> Left:
        kinds = await self._kinds(applied)
        if len(kinds) > 1:
            groups = " or ".join(sorted(kind.api_version for kind in kinds))
            problem = f"{applied.key}: is it of {groups}? Delete it by hand, and this with force-delete"
            return Left(applied, is_gone=False, problem=problem)
        return await self._let_go_of(applied, kinds[0], leaving) if kinds else Left(applied, is_gone=True)

    async def _let_go_of(self, applied: Applied, kind: Kind, leaving: Leaving) -> Left:
        ref = Ref(kind, Key(applied.namespace, applied.name))
        try:
            is_namespaced = (await self._client.discovery.resource(kind)).namespaced
            ref = ref if is_namespaced else Ref(kind, Key("", applied.name))
            return await self._ended(applied, ref, leaving)
        except NoSuchKind:
            return Left(applied, is_gone=True)  # with its kind went every object of it
        except Conflict:
            return Left(applied, is_gone=False)  # it changed while we looked: look again
        except (ApiError, TransportError) as error:
            return Left(applied, is_gone=False, problem=told(ref, error))

    async def _ended(self, applied: Applied, ref: Ref, leaving: Leaving) -> Left:
        try:
            seen = await self._eyes.find(ref)
        except Forbidden as error:
            return Left(applied, is_gone=False, problem=told(ref, error), is_hidden=True)
        if seen is None or not is_ours(seen.meta, leaving.owner):
            return Left(applied, is_gone=True)
        fate = fate_of(seen.meta, leaving.owner)
        if fate is Fate.LEAVE:
            return Left(applied, is_gone=False)  # on its way out already
        plan = (self._step(fate, ref, seen, leaving), *_events(fate, ref, leaving))
        await leaving.executor.execute(plan, leaving.tenant)
        return Left(applied, is_gone=fate is Fate.RETAIN or await self._eyes.find(ref) is None)

    def _step(self, fate: Fate, ref: Ref, seen: Seen, leaving: Leaving) -> Step:
        if fate is Fate.DELETE:
            return Delete(ref, seen.meta.uid, leaving.reason)
        marks = orphan_patch(seen.meta, leaving.owner, leaving.reason, self._clock.now())
        return Patch(ref, MergePatch(marks))

    async def _kinds(self, applied: Applied) -> tuple[Kind, ...]:
        """Of which kind it can be: an apiVersion that was never written down is asked of the server."""
        if applied.api_version:
            return (Kind(applied.api_version, applied.kind),)
        return await self._client.discovery.named(applied.kind)


def _events(fate: Fate, ref: Ref, leaving: Leaving) -> Plan:
    """That a Tenant's objects go with it is told once, by the Tenant; what is not expected is told for each."""
    is_orphan = leaving.reason == REMOVED_FROM_TEMPLATE
    if fate is Fate.RETAIN:
        reason = reasons.ORPHAN_RETAINED if is_orphan else reasons.RESOURCE_RETAINED
        return (Emit(leaving.tenant, reason, f"{ref} is kept and marked as orphaned: {leaving.reason}"),)
    return (Emit(leaving.tenant, reasons.ORPHAN_DELETED, f"{ref} was deleted: {leaving.reason}"),) * is_orphan
