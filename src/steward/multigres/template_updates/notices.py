"""Messages about changes of templates: which one is pending, what it restarts, how to apply it. Pure."""

import datetime
from collections.abc import Collection
from hashlib import sha256
from typing import NamedTuple

import msgspec

from steward.multigres import reasons
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.resolution.validation import validate_update
from steward.multigres.template_updates.candidate import (
    WINDOW,
    TemplateContents,
    UpdateInputs,
    describe_problems,
    resolve_candidate,
)
from steward.multigres.template_updates.restart_impact import restarted_components, stopped_servers
from steward.multigres.template_updates.revisions import TemplateContent

APPLY_NOW = "multigres.com/apply-template-update"
REVISION_LENGTH = 12
MAX_LISTED_RESTARTS = 12


class UpdateEvent(NamedTuple):
    """Reason and message of a Kubernetes event about a template."""

    reason: str
    message: str


class UpdateNotice(NamedTuple):
    """Content of the condition TemplateUpdateAvailable."""

    is_available: bool
    reason: str
    message: str


class PendingUpdate(NamedTuple):
    """Contents that are newer than the active ones, and why they are not active."""

    active: TemplateContents
    newer: TemplateContents
    rolled_back: Collection[TemplateKey] = ()
    rejection: str = ""


def pending_revision(pending: TemplateContents, objects_version: int = 0) -> str:
    """A digest of the pending contents, and of the pending version of the pods unless it is 0: clusters with the same
    pending changes show the same revision. Empty if nothing is pending."""
    if not pending and not objects_version:
        return ""
    digest = sha256()
    for key in sorted(pending):
        digest.update(
            f"{key}\0".encode() + msgspec.json.encode(pending[key].spec, order="deterministic") + b"\0"
        )
    if objects_version:
        digest.update(f"objectsVersion\0{objects_version}\0".encode())
    return digest.hexdigest()[:REVISION_LENGTH]


def update_notice(inputs: UpdateInputs, pending: PendingUpdate) -> UpdateNotice:
    newer = pending.newer
    if not newer:
        return UpdateNotice(False, reasons.UP_TO_DATE, "every template is active in its current version")
    if pending.rejection:
        return UpdateNotice(
            True,
            reasons.UPDATE_REFUSED,
            f"{pending.rejection}. The active content stays; correct the template",
        )
    changes = "; ".join(_describe_change(key, pending.active.get(key), new) for key, new in newer.items())
    impact, is_usable = _describe_impact(inputs, pending)
    summary = f"{changes}; {impact}"
    if not is_usable:
        return UpdateNotice(True, _waiting_reason(inputs, pending), f"{summary}. Correct the template")
    if set(newer) <= set(pending.rolled_back):
        return UpdateNotice(
            True,
            reasons.ROLLED_BACK,
            f"{summary}. This cluster was rolled back from it; to apply it, {annotate_instruction(inputs)}",
        )
    if inputs.mode == WINDOW:
        return UpdateNotice(
            True,
            reasons.WAITING_FOR_WINDOW,
            f"{summary}. {window_message(inputs)}, or {annotate_instruction(inputs)}",
        )
    cure = approval_instruction(inputs, pending_revision(newer, inputs.pending_objects_version))
    return UpdateNotice(True, reasons.WAITING_FOR_APPROVAL, f"{summary}. To apply, {cure}")


def _waiting_reason(inputs: UpdateInputs, pending: PendingUpdate) -> str:
    if set(pending.newer) <= set(pending.rolled_back):
        return reasons.ROLLED_BACK
    return reasons.WAITING_FOR_WINDOW if inputs.mode == WINDOW else reasons.WAITING_FOR_APPROVAL


def _describe_impact(inputs: UpdateInputs, pending: PendingUpdate) -> tuple[str, bool]:
    """What the change would do, and whether the cluster can use it at all."""
    current = resolve_candidate(inputs, pending.active)
    after = resolve_candidate(inputs, {**pending.active, **pending.newer})
    changes = [] if current.problems else validate_update(current.resolved, after.resolved)
    if problems := [*after.problems, *changes]:
        return f"it cannot be used as it is: {describe_problems(problems)}", False
    restarts = _list_some(restarted_components(current.resolved, after.resolved)) or "nothing"
    stops = _list_some(stopped_servers(current.resolved, after.resolved))
    return f"restarts {restarts}" + (f"; stops {stops}" if stops else ""), True


def _list_some(found: list[str]) -> str:
    more = f" and {len(found) - MAX_LISTED_RESTARTS} more" if len(found) > MAX_LISTED_RESTARTS else ""
    return ", ".join(found[:MAX_LISTED_RESTARTS]) + more


def annotate_instruction(inputs: UpdateInputs) -> str:
    namespace, name = inputs.identity
    return f"run `kubectl annotate multigrescluster {name} -n {namespace} {APPLY_NOW}=true`"


def approval_instruction(inputs: UpdateInputs, revision: str) -> str:
    return f"{annotate_instruction(inputs)}, or set spec.updatePolicy.acceptedRevision to {revision}"


def window_message(inputs: UpdateInputs) -> str:
    opening = inputs.next_window
    return (
        "No window can be computed"
        if opening is None
        else f"It applies when the window opens at {format_utc(opening)}"
    )


def format_utc(time: datetime.datetime) -> str:
    return time.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def describe_generations(old: TemplateContent | None, new: TemplateContent) -> str:
    return (
        f"generation {new.generation}" if old is None else f"generation {old.generation} → {new.generation}"
    )


def _describe_change(key: TemplateKey, old: TemplateContent | None, new: TemplateContent) -> str:
    if old is None:
        return f"{key.describe()} is new ({describe_generations(old, new)})"
    change = "has pending changes" if old.uid == new.uid else "was recreated"
    return f"{key.describe()} {change} ({describe_generations(old, new)})"
