"""Dry run of a plan: what each step would change on the server.

The API server executes each step with `dryRun=All`, so defaults, webhooks and validation apply. Unlike `PlanExecutor`
it continues after a rejected step: a preview shows all of them. A step that depends on an earlier one (an object in a
namespace that the plan creates) cannot be predicted and is reported as such.
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

SERVER_METADATA = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The copy of an object that a plain `kubectl apply` keeps in it: of a Secret, with its values."""


class DryRunOutcome(Enum):
    CREATE = "would be created"
    CHANGE = "would change"
    UNCHANGED = "would not change"
    DELETE = "would be deleted"
    REJECTED = "would be rejected"
    UNKNOWN = "cannot be known yet"
    EMITTED = "would be emitted"
    HELD = "is held"
    DEFERRED = "would be applied later"
    REQUEUED = "would be reconciled again"


class DryRunResult(NamedTuple):
    """A step and its effect. `before` and `after` are the object without the fields that the server maintains."""

    step: Step
    outcome: DryRunOutcome
    before: Manifest | None = None
    after: Manifest | None = None
    problem: str = ""


class DryRunExecutor:
    def __init__(self, client: Client, field_manager: str) -> None:
        self._client = client
        self._field_manager = field_manager

    async def execute(self, plan: Plan, for_object: Ref) -> tuple[DryRunResult, ...]:
        return tuple([await self._predict(step) for step in plan])

    async def require(self, step: Apply | Create | Patch) -> DryRunResult:
        """The effect of one step; raises the error of the API server if it would be rejected."""
        return await self._dry_run(step, await self._live(step.ref))

    async def _predict(self, step: Step) -> DryRunResult:
        match step:
            case Emit():
                return DryRunResult(step, DryRunOutcome.EMITTED)
            case Hold():
                return DryRunResult(step, DryRunOutcome.HELD)
            case Requeue():
                return DryRunResult(step, DryRunOutcome.REQUEUED)
        before = await self._live(step.ref)
        try:
            return await self._dry_run(step, before)
        except (NotFound, NoSuchKind) as error:
            return DryRunResult(step, DryRunOutcome.UNKNOWN, before, problem=str(error))
        except ApiError as error:
            return DryRunResult(step, DryRunOutcome.REJECTED, before, problem=str(error))

    async def _live(self, ref: Ref) -> Manifest | None:
        try:
            return await self._client.get(ref.kind, ref.key)
        except (NotFound, NoSuchKind):
            return None

    async def _dry_run(
        self, step: Apply | Create | Patch | Delete | Status, before: Manifest | None
    ) -> DryRunResult:
        if isinstance(step, Delete):
            return await self._dry_run_delete(step, before)
        if isinstance(step, Create):
            return await self._dry_run_create(step, before)
        body = await self._dry_run_change(step)
        return _compare(step, before, msgspec.json.decode(body))

    async def _dry_run_change(self, step: Apply | Patch | Status) -> bytes:
        if isinstance(step, Patch):
            manager = step.manager or self._field_manager
            return await self._client.patch(
                step.ref, step.patch, step.subresource, manager=manager, dry_run=True
            )
        if isinstance(step, Apply):
            options = ApplyOptions(
                manager=step.manager or self._field_manager,
                force=step.force,
                dry_run=True,
                only_if_absent=step.only_if_absent,
                resource_version=step.resource_version,
            )
            return await self._client.apply(step.manifest, options)
        return await self._client.apply(
            status_manifest(step),
            ApplyOptions(manager=self._field_manager, dry_run=True, subresource="status"),
        )

    async def _dry_run_create(self, step: Create, before: Manifest | None) -> DryRunResult:
        if before is not None:
            return DryRunResult(
                step,
                DryRunOutcome.UNCHANGED,
                without_server_metadata(before),
                without_server_metadata(before),
            )
        try:
            body = await self._client.create(step.manifest, manager=self._field_manager, dry_run=True)
        except AlreadyExists:
            return DryRunResult(step, DryRunOutcome.UNCHANGED)
        return _compare(step, None, msgspec.json.decode(body))

    async def _dry_run_delete(self, step: Delete, before: Manifest | None) -> DryRunResult:
        if before is None or before["metadata"]["uid"] != step.uid:
            return DryRunResult(step, DryRunOutcome.UNCHANGED)
        try:
            await self._client.delete(step.ref, DeleteOptions(uid=step.uid, dry_run=True))
        except (NotFound, Conflict):
            return DryRunResult(step, DryRunOutcome.UNCHANGED)
        return DryRunResult(step, DryRunOutcome.DELETE, without_server_metadata(before))


def _compare(step: Step, before: Manifest | None, after: dict[str, Any]) -> DryRunResult:
    new = without_server_metadata(after)
    if before is None:
        return DryRunResult(step, DryRunOutcome.CREATE, None, new)
    old = without_server_metadata(before)
    return DryRunResult(step, DryRunOutcome.UNCHANGED if old == new else DryRunOutcome.CHANGE, old, new)


def without_server_metadata(manifest: Manifest) -> Manifest:
    """Without the metadata that the API server and kubectl maintain: it differs on every write and hides the real
    difference."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in SERVER_METADATA}
    annotations = metadata.pop("annotations", None) or {}
    written = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
    return {**manifest, "metadata": {**metadata, **({"annotations": written} if written else {})}}
