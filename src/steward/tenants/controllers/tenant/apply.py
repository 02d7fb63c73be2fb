"""Brings one object up to what its resource says, and tells how far it came. One failing object stops no other.

Every apply is first sent without force: the server itself then tells which field is in whose hands. A field that we
applied before is taken back; one that somebody held before we ever asked for it stays theirs, and is a conflict. What
no cache shows is made only if nothing stands there, in one call: only when that is refused does anybody look.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from steward.kube.client.client import Client
from steward.kube.clock import Clock
from steward.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    FieldConflict,
    Forbidden,
    Invalid,
    KubeError,
    NoSuchKind,
    TooManyRequests,
    Unauthorized,
)
from steward.kube.objects.kinds import Kind, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import to_timestamp
from steward.runtime.plan.executor import WRITES, Effect, PlanExecutor
from steward.runtime.plan.steps import Apply, Create, Delete, Emit, EventType, Patch, Step
from steward.tenants import reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.tenant.conflict_policy import Claims, ConflictFound, Held
from steward.tenants.controllers.tenant.ignore_fields import Seeding
from steward.tenants.controllers.tenant.merge_replace import Patching, Writing
from steward.tenants.controllers.tenant.observe import Eyes, Seen
from steward.tenants.controllers.tenant.state import Brought, TenantMemory, brought_up
from steward.tenants.labels import CREATED_ONCE
from steward.tenants.metrics import ERROR, SUCCESS, Counts
from steward.tenants.objects.api_errors import immutable_fields, told
from steward.tenants.objects.desired import Wanted, tracking
from steward.tenants.objects.diff import changed_paths
from steward.tenants.objects.ignore_fields import ignored_places, without
from steward.tenants.objects.orphans import Owner, adoption_patch
from steward.tenants.objects.ownership import (
    doubled_conflict,
    field_conflict,
    fields_taken,
    is_orphan,
    may_touch,
    strangers,
)
from steward.tenants.objects.permissions import Permissions, denial, refusal
from steward.tenants.objects.takers import takers
from steward.tenants.status.progress import Look, Progress, State, progress_of

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS: Final = 5.0
MOST_PATIENCE_SECONDS: Final = 60.0
SOON: Final = 1.0
_NOT_APPLIED: Final = (reasons.APPLY_FAILED, reasons.PERMISSION_DENIED, reasons.RESOURCE_CONFLICT)


class Job(NamedTuple):
    """One Tenant at work: who it is, with whose rights, and what is known of its objects."""

    tenant: Ref
    owner: Owner
    generation: int
    executor: PlanExecutor
    client: Client
    memory: TenantMemory
    doubled: dict[str, str]
    unserved: dict[Kind, str]


class Hand:
    """What all Tenants' objects are applied by."""

    def __init__(self, eyes: Eyes, clock: Clock, permissions: Permissions, counts: Counts) -> None:
        self.eyes = eyes
        self._clock = clock
        self._permissions = permissions
        self._counts = counts
        self._claims = Claims(clock)
        self._patching = Patching(eyes)

    async def bring(self, wanted: Wanted, job: Job) -> Progress:
        hindrance = self._hindrance(wanted, job)
        if hindrance is not None:
            return hindrance
        try:
            progress = await self._brought(wanted, job)
        except ConflictFound as conflict:
            progress = _conflicted(wanted, str(conflict))
        except Conflict:
            progress = Progress(wanted.id, State.WAITING, "was changed by another in the same moment", SOON)
        except (ApiError, NoSuchKind) as error:
            if isinstance(error, TooManyRequests | Unauthorized):
                raise
            progress = _failed(wanted, error)
        self._count_conflict(wanted, job, progress)
        progress = self._paced(progress, job)
        result = ERROR if progress.event in _NOT_APPLIED else SUCCESS
        self._counts.attempted(wanted.ref.kind.kind, result, wanted.resource.conflict_policy)
        return progress

    def _paced(self, progress: Progress, job: Job) -> Progress:
        """What has failed for long is looked at less often: a fleet of it would keep the server busy for nothing."""
        since = job.memory.failing_since
        if not progress.state.has_failed:
            since.pop(progress.id, None)
            return progress
        elapsed = self._clock.monotonic() - since.setdefault(progress.id, self._clock.monotonic())
        return progress._replace(look_again_after=patience(progress.look_again_after, elapsed))

    def _hindrance(self, wanted: Wanted, job: Job) -> Progress | None:
        """What forbids to touch the object at all."""
        refused = refusal(wanted.ref, job.owner.namespace, self._permissions)
        if refused:
            return Progress(wanted.id, State.DENIED, refused, event=reasons.PERMISSION_DENIED)
        if wanted.ref.kind in job.unserved:
            why = f"{wanted.ref}: {job.unserved[wanted.ref.kind]}"
            return Progress(wanted.id, State.FAILED, why, LOOK_AGAIN_SECONDS, reasons.APPLY_FAILED)
        if wanted.id in job.doubled:
            return _conflicted(wanted, doubled_conflict(wanted.ref, job.doubled[wanted.id]))
        if not wanted.is_whole:
            return Progress(wanted.id, State.WAITING, "its values are not there yet", SOON)
        return None

    def _count_conflict(self, wanted: Wanted, job: Job, progress: Progress) -> None:
        """Counted when it begins, not each time it is looked at."""
        known = job.memory.conflicted
        if progress.state is not State.CONFLICTED:
            known.discard(wanted.id)
        elif wanted.id not in known:
            known.add(wanted.id)
            self._counts.conflicted(job.tenant.key, wanted.ref.kind.kind, wanted.resource.conflict_policy)

    async def _brought(self, wanted: Wanted, job: Job) -> Progress:
        made = await self._made(wanted, job)
        return await self._brought_up(wanted, job) if made is None else made

    async def _made(self, wanted: Wanted, job: Job) -> Progress | None:
        """None where something stands already, or may: then one has to look at whose it is."""
        if self.eyes.may_stand(wanted.ref) or may_have_met_strangers(wanted, job):
            return None
        try:
            effect = await self._told_in_log(wanted, lambda: self._make(wanted, job))
        except AlreadyExists:
            return None
        seen = self.eyes.cached(wanted.ref)
        return (
            None
            if effect not in WRITES or seen is None
            else await self._told(wanted, job, seen, changed=True)
        )

    async def _make(self, wanted: Wanted, job: Job) -> Effect:
        if wanted.resource.patch_strategy != "apply":
            return await self._carry(Create(wanted.manifest), job)
        return await self._carry(Apply(wanted.manifest, force=False, only_if_absent=True), job)

    async def _brought_up(self, wanted: Wanted, job: Job) -> Progress:
        seen = await self.eyes.find(wanted.ref)
        if seen is not None and seen.meta.deletion_timestamp is not None and may_touch(seen.meta, job.owner):
            return Progress(wanted.id, State.WAITING, "is being deleted, and made anew when it is gone", SOON)
        await self._take_over(wanted, job, seen)
        if seen is not None and wanted.is_once and is_made(seen.meta, job.owner):
            return await self._told(wanted, job, seen, changed=False)
        try:
            effect = await self._told_in_log(wanted, lambda: self._written(wanted, job, seen))
        except Invalid as error:
            if seen is None or not immutable_fields(error) or not wanted.may_be_recreated:
                raise
            return await self._recreated(wanted, job, seen, error)
        await self._tell_taken(wanted, job, seen)
        now_seen = self.eyes.cached(wanted.ref) or await self.eyes.find(wanted.ref)
        if now_seen is None:
            return Progress(wanted.id, State.WAITING, "is gone again", SOON)
        return await self._told(wanted, job, now_seen, changed=effect in WRITES)

    async def _told(self, wanted: Wanted, job: Job, seen: Seen, *, changed: bool) -> Progress:
        done = Brought(seen.meta.uid, changed, job.generation, self._now())
        record = brought_up(wanted.record(), job.memory.records.get(wanted.ref), done)
        job.memory.records[wanted.ref] = record
        found = await self.eyes.readiness_by(wanted.resource, wanted.ref, seen)
        changed_at = done.now if record.changed_at is UNSET else record.changed_at
        progress = progress_of(wanted.resource, Look(found, changed_at, self._clock.now()))
        return self._watched(wanted, progress)

    def _watched(self, wanted: Wanted, progress: Progress) -> Progress:
        """What a rule of the user's reads is in no cache: without a watch it is looked at again now and then."""
        if not wanted.resource.has_own_rule or self.eyes.hears_of(wanted.ref.kind):
            return progress
        after = progress.look_again_after
        return progress._replace(look_again_after=min(LOOK_AGAIN_SECONDS, after or LOOK_AGAIN_SECONDS))

    async def _take_over(self, wanted: Wanted, job: Job, seen: Seen | None) -> None:
        """Nothing of somebody else is touched unless that was asked for; an orphan loses its marks."""
        if seen is None:
            return
        if not may_touch(seen.meta, job.owner):
            self._claims.claim(wanted, seen)
        marks = adoption_patch(seen.meta)
        if marks is not None and is_orphan(seen.meta):
            marks["metadata"].setdefault("labels", {}).update(tracking(job.owner))
            await self._carry(Patch(wanted.ref, MergePatch(marks)), job)

    async def _tell_taken(self, wanted: Wanted, job: Job, seen: Seen | None) -> None:
        """Once it is done: somebody else's object is ours now."""
        if seen is None or may_touch(seen.meta, job.owner):
            return
        self._claims.took(wanted, seen)
        await self._tell_forced(f"{wanted.ref} was taken over, as conflictPolicy: Force says", job)

    async def _tell_forced(self, message: str, job: Job) -> None:
        await self._carry(Emit(job.tenant, reasons.FORCE_APPLIED, message, EventType.WARNING), job)

    async def _told_in_log(self, wanted: Wanted, write: Callable[[], Awaitable[Effect]]) -> Effect:
        """For those who look closely, which fields an apply changed: their paths, never their values."""
        if not log.isEnabledFor(logging.DEBUG):
            return await write()
        before = await self.eyes.whole(wanted.ref)
        effect = await write()
        if effect in WRITES:
            paths = changed_paths(before, await self.eyes.whole(wanted.ref))
            log.debug("applied %s", wanted.ref, extra={"effect": effect.value, "changed": paths})
        return effect

    async def _written(self, wanted: Wanted, job: Job, seen: Seen | None) -> Effect:
        if wanted.resource.patch_strategy != "apply":
            return await self._patched(wanted, job, seen)
        expressions = wanted.resource.ignore_fields
        places = () if expressions is UNSET else ignored_places(wanted.manifest, expressions)
        if not places or wanted.is_once:
            return await self._applied(wanted.manifest, wanted, job, seen)
        seeding = Seeding(self.eyes, lambda step: self._carry(step, job))
        first = await seeding.before(wanted.manifest, places)
        own = await self._applied(without(wanted.manifest, places), wanted, job, seen)
        await seeding.after(wanted.manifest, places)
        return first if first in WRITES else own

    async def _patched(self, wanted: Wanted, job: Job, seen: Seen | None) -> Effect:
        def contend(live: Manifest, answer: Manifest) -> Held:
            held = takers(live, changed_paths(live, answer)) if is_settled(wanted, job) else ()
            return self._claims.contend(wanted.ref, held)

        def put_back(held: Held) -> None:
            self._claims.put_back(wanted.ref, held)

        writing = Writing(job.client, lambda step: self._carry(step, job), contend, put_back)
        return await self._patching.patched(wanted, seen, writing)

    async def _applied(self, manifest: Manifest, wanted: Wanted, job: Job, seen: Seen | None) -> Effect:
        forced: Held = ()
        try:
            return await self._carry(Apply(manifest, force=False), job)
        except FieldConflict as error:
            forced = self._claimed(wanted, job, error)
        except Invalid:
            if not is_settled(wanted, job):
                raise
        # Only a forced apply is healed where the server cannot get over what others have left.
        effect = await self._carry(Apply(manifest, force=True), job)
        log.debug("took back fields of %s", wanted.ref)
        if forced and seen is not None and may_touch(seen.meta, job.owner):
            await self._tell_forced(fields_taken(wanted.ref, forced), job)
        return effect

    def _claimed(self, wanted: Wanted, job: Job, error: FieldConflict) -> Held:
        """Raises unless the fields are ours to take; those that only the policy lets us take."""
        if not is_settled(wanted, job):
            return self._claims.claim_fields(wanted, error)
        self._claims.fight(wanted.ref, strangers(error))
        return ()

    async def _recreated(self, wanted: Wanted, job: Job, seen: Seen, error: Invalid) -> Progress:
        fields = ", ".join(immutable_fields(error))
        message = f"{wanted.ref} is made anew: {fields} cannot change on a living object"
        await self._carry(Delete(wanted.ref, seen.meta.uid, message), job)
        await self._carry(Emit(job.tenant, reasons.RESOURCE_RECREATED, message), job)
        return Progress(wanted.id, State.WAITING, message, SOON)

    async def _carry(self, step: Step, job: Job) -> Effect:
        outcome = await job.executor.execute((step,), job.tenant)
        return outcome.carried[0].effect

    def _now(self) -> str:
        return to_timestamp(self._clock.now())


def patience(look_again_after: float | None, elapsed: float) -> float | None:
    """How long until the next look at what has failed for so long."""
    if look_again_after is None:
        return None
    return max(look_again_after, min(elapsed / 4, MOST_PATIENCE_SECONDS))


def may_have_met_strangers(wanted: Wanted, job: Job) -> bool:
    """Whether the name may be known as taken, by us or by an earlier life: to find out again takes no write."""
    if wanted.id in job.memory.conflicted or wanted.has_ignored_fields:
        return True
    record = job.memory.records.get(wanted.ref)
    return bool(job.memory.is_recalled) and (record is None or not record.uid)


def is_settled(wanted: Wanted, job: Job) -> bool:
    """Whether this very version was applied to the object before: then every field in it was ours."""
    record = job.memory.records.get(wanted.ref)
    return record is not None and record.generation == job.generation


def is_made(meta: ObjectMeta, owner: Owner) -> bool:
    """Whether it was made once for this Tenant. What was made for another is not ours to look at before we have taken
    it, and whether we may do that only the server knows."""
    return meta.annotations.get(CREATED_ONCE) == "true" and may_touch(meta, owner)


def _conflicted(wanted: Wanted, message: str) -> Progress:
    return Progress(wanted.id, State.CONFLICTED, message, LOOK_AGAIN_SECONDS, reasons.RESOURCE_CONFLICT)


def _failed(wanted: Wanted, error: KubeError) -> Progress:
    if isinstance(error, FieldConflict):
        return _conflicted(wanted, field_conflict(wanted.ref, error))
    if isinstance(error, Forbidden) and error.user:
        why = denial(wanted.ref, error)
        return Progress(wanted.id, State.DENIED, why, LOOK_AGAIN_SECONDS, reasons.PERMISSION_DENIED)
    why = told(wanted.ref, error)
    return Progress(wanted.id, State.FAILED, why, LOOK_AGAIN_SECONDS, reasons.APPLY_FAILED)
