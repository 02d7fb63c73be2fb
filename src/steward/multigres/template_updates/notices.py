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
from steward.multigres.template_updates.restart_impact import restarted_components
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


def pending_revision(pending: TemplateContents) -> str:
    """A digest of the pending contents: clusters with the same pending contents show the same revision."""
    digest = sha256()
    for key in sorted(pending):
        digest.update(
            f"{key}\0".encode() + msgspec.json.encode(pending[key].spec, order="deterministic") + b"\0"
        )
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
    summary = f"{changes}; {_describe_impact(inputs, pending)}"
    if set(newer) <= set(pending.rolled_back):
        return UpdateNotice(
            True,
            reasons.ROLLED_BACK,
            f"{summary}. This cluster was rolled back from it; to apply it, {_annotate_instruction(inputs)}",
        )
    if inputs.mode == WINDOW:
        return UpdateNotice(
            True,
            reasons.WAITING_FOR_WINDOW,
            f"{summary}. {_window_message(inputs)}, or {_annotate_instruction(inputs)}",
        )
    cure = f"{_annotate_instruction(inputs)}, or set spec.updatePolicy.acceptedRevision to {pending_revision(newer)}"
    return UpdateNotice(True, reasons.WAITING_FOR_APPROVAL, f"{summary}. To apply, {cure}")


def _describe_impact(inputs: UpdateInputs, pending: PendingUpdate) -> str:
    current = resolve_candidate(inputs, pending.active)
    after = resolve_candidate(inputs, {**pending.active, **pending.newer})
    changes = [] if current.problems else validate_update(current.resolved, after.resolved)
    if problems := [*after.problems, *changes]:
        return f"it cannot be used as it is: {describe_problems(problems)}"
    found = restarted_components(current.resolved, after.resolved)
    more = f" and {len(found) - MAX_LISTED_RESTARTS} more" if len(found) > MAX_LISTED_RESTARTS else ""
    return f"restarts {', '.join(found[:MAX_LISTED_RESTARTS])}{more}" if found else "restarts nothing"


def _annotate_instruction(inputs: UpdateInputs) -> str:
    namespace, name = inputs.identity
    return f"run `kubectl annotate multigrescluster {name} -n {namespace} {APPLY_NOW}=true`"


def _window_message(inputs: UpdateInputs) -> str:
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
