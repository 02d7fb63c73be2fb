"""The same plan, not carried out but asked about: what the server would make of every step.

The server answers with its own dry run, so defaults, webhooks and validation are all in the picture. Unlike the real
carrier it goes on after a refusal: whoever looks ahead wants to see all of it. A step that builds on an earlier one
(an object in a namespace that the plan makes) cannot be asked about yet, and says so.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import msgspec

from steward.kube.client.client import Client
from steward.kube.errors import AlreadyExists, ApiError, Conflict, NoSuchKind, NotFound
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.options import ApplyOptions, DeleteOptions
from steward.runtime.plan.steps import (
    Apply,
    Create,
    Delete,
    Emit,
    Hold,
    Patch,
    Plan,
    Requeue,
    Status,
    Step,
    status_manifest,
)

BOOKKEEPING = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


class Verdict(Enum):
    CREATE = "would be created"
    CHANGE = "would change"
    NOTHING = "is as it should be"
    DELETE = "would be deleted"
    REFUSED = "would be refused"
    UNKNOWN = "cannot be known yet"
    TOLD = "would be told"
    HELD = "is held"
    WAITS = "would not be followed yet"
    LATER = "would be looked at again"


class Foreseen(NamedTuple):
    """One step, and what it would do. `before` and `after` hold what a person compares."""

    step: Step
    verdict: Verdict
    before: Manifest | None = None
    after: Manifest | None = None
    problem: str = ""


class DryRunCarrier:
    def __init__(self, client: Client, field_manager: str) -> None:
        self._client = client
        self._field_manager = field_manager

    async def execute(self, plan: Plan, cause: Ref) -> tuple[Foreseen, ...]:
        return tuple([await self._foresee(step) for step in plan])

    async def _foresee(self, step: Step) -> Foreseen:
        match step:
            case Emit():
                return Foreseen(step, Verdict.TOLD)
            case Hold():
                return Foreseen(step, Verdict.HELD)
            case Requeue():
                return Foreseen(step, Verdict.LATER)
        before = await self._now(step.ref)
        try:
            return await self._ask(step, before)
        except (NotFound, NoSuchKind) as error:
            return Foreseen(step, Verdict.UNKNOWN, before, problem=str(error))
        except ApiError as error:
            return Foreseen(step, Verdict.REFUSED, before, problem=str(error))

    async def _now(self, ref: Ref) -> Manifest | None:
        try:
            return await self._client.get(ref.kind, ref.key)
        except (NotFound, NoSuchKind):
            return None

    async def _ask(self, step: Apply | Create | Patch | Delete | Status, before: Manifest | None) -> Foreseen:
        if isinstance(step, Delete):
            return await self._ask_delete(step, before)
        if isinstance(step, Create):
            return await self._ask_create(step, before)
        body = await self._ask_change(step)
        return _compared(step, before, msgspec.json.decode(body))

    async def _ask_change(self, step: Apply | Patch | Status) -> bytes:
        if isinstance(step, Patch):
            return await self._client.patch(
                step.ref, step.patch, step.subresource, manager=self._field_manager, dry_run=True
            )
        if isinstance(step, Apply):
            options = ApplyOptions(
                manager=step.manager or self._field_manager,
                force=step.force,
                dry_run=True,
                only_if_absent=step.only_if_absent,
            )
            return await self._client.apply(step.manifest, options)
        return await self._client.apply(
            status_manifest(step),
            ApplyOptions(manager=self._field_manager, dry_run=True, subresource="status"),
        )

    async def _ask_create(self, step: Create, before: Manifest | None) -> Foreseen:
        if before is not None:
            return Foreseen(step, Verdict.NOTHING, clean(before), clean(before))
        try:
            body = await self._client.create(step.manifest, manager=self._field_manager, dry_run=True)
        except AlreadyExists:
            return Foreseen(step, Verdict.NOTHING)
        return _compared(step, None, msgspec.json.decode(body))

    async def _ask_delete(self, step: Delete, before: Manifest | None) -> Foreseen:
        if before is None or before["metadata"]["uid"] != step.uid:
            return Foreseen(step, Verdict.NOTHING)
        try:
            await self._client.delete(step.ref, DeleteOptions(uid=step.uid, dry_run=True))
        except (NotFound, Conflict):
            return Foreseen(step, Verdict.NOTHING)
        return Foreseen(step, Verdict.DELETE, clean(before))


def _compared(step: Step, before: Manifest | None, after: dict[str, Any]) -> Foreseen:
    then = clean(after)
    if before is None:
        return Foreseen(step, Verdict.CREATE, None, then)
    now = clean(before)
    return Foreseen(step, Verdict.NOTHING if now == then else Verdict.CHANGE, now, then)


def clean(manifest: Manifest) -> Manifest:
    """Without what the server counts for itself, which would drown the difference."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in BOOKKEEPING}
    return {**manifest, "metadata": metadata}
