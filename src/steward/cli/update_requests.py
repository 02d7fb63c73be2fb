"""Requests to apply or roll back a template change: whether the operator would refuse one, and how it ended.

The refusal is computed by the operator's own decision on what the cluster has now, before anything is written. After
the write the outcome is read from the cluster: the operator removes the annotation of the request when it is done.
"""

from __future__ import annotations

import asyncio
import datetime
import time
from typing import Any, Final, NamedTuple

from steward.cli.hints import command_line
from steward.cli.preview.namespace_snapshot import read_snapshot
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.patches import MergePatch
from steward.multigres import reasons
from steward.multigres.template_updates.candidate import UpdateInputs
from steward.multigres.template_updates.policy import UpdateDecision, decide_update

FIELD_MANAGER: Final = "steward-cli"
OUTCOME_SECONDS: Final = 60.0
_PERIOD_SECONDS: Final = 0.5
_REFUSALS: Final = (reasons.UPDATE_REFUSED, reasons.NO_SUCH_REVISION)


class UpdateRequest(NamedTuple):
    """An annotation that asks the operator for an update."""

    cluster: Ref
    annotation: str
    value: str


async def read_refusal(client: Client, request: UpdateRequest) -> str:
    """Why the operator would refuse the request now; "" if it would carry it out."""
    snapshot = await read_snapshot(client, request.cluster.key.namespace)
    cluster = snapshot.objects.get(request.cluster)
    if cluster is None:
        return ""
    return request_refusal(snapshot.update_inputs(cluster, datetime.datetime.now(datetime.UTC)), request)


def request_refusal(inputs: UpdateInputs, request: UpdateRequest) -> str:
    """Pure."""
    requested = {**inputs.annotations, request.annotation: request.value}
    return decision_refusal(decide_update(inputs._replace(annotations=requested)))


def decision_refusal(decision: UpdateDecision) -> str:
    found = [event.message for event in decision.events if event.reason in _REFUSALS]
    if not found and decision.notice.reason == reasons.UPDATE_REFUSED:
        found = [decision.notice.message]
    return "; ".join(found)


async def send_request(client: Client, request: UpdateRequest, patch: MergePatch) -> None:
    await client.patch(request.cluster, patch, manager=FIELD_MANAGER)


async def wait_for_outcome(client: Client, request: UpdateRequest) -> str:
    """Waits until the operator has acted on the request. Returns why it failed; "" if it did not."""
    if not await _wait_until_handled(client, request):
        return (
            f"the operator has not acted within {OUTCOME_SECONDS:.0f} s. The request stays on {request.cluster} "
            f"as an annotation, and `{command_line('doctor')}` says whether the operator runs"
        )
    return await read_refusal(client, request)


async def _wait_until_handled(client: Client, request: UpdateRequest) -> bool:
    deadline = time.monotonic() + OUTCOME_SECONDS
    while time.monotonic() < deadline:
        if is_handled(await client.get(*request.cluster), request):
            return True
        await asyncio.sleep(_PERIOD_SECONDS)
    return False


def is_handled(cluster: Manifest, request: UpdateRequest) -> bool:
    """Whether the operator has removed the annotation. Pure."""
    annotations: dict[str, Any] = cluster["metadata"].get("annotations") or {}
    return annotations.get(request.annotation) != request.value
