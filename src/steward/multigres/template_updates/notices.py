"""What is told of a template's change: which one waits, what it would restart, and what to do about it. Pure."""

import datetime
from collections.abc import Collection
from hashlib import sha256
from typing import NamedTuple

import msgspec

from steward.multigres import reasons
from steward.multigres.resolution.validation import validate_update
from steward.multigres.template_updates.candidate import WINDOW, Contents, Situation, attempt, told
from steward.multigres.template_updates.restart_impact import restarts
from steward.multigres.template_updates.revisions import Content, TemplateKey

APPLY_NOW = "multigres.com/apply-template-update"
REVISION_LENGTH = 12
TOLD_RESTARTS = 12


class News(NamedTuple):
    """What happened to a template just now, for an event."""

    reason: str
    message: str


class Notice(NamedTuple):
    """What the condition TemplateUpdateAvailable says."""

    is_available: bool
    reason: str
    message: str


class Waiting(NamedTuple):
    """Contents that are newer than those in force, and why they were not taken."""

    in_force: Contents
    newer: Contents
    left_behind: Collection[TemplateKey] = ()
    refusal: str = ""


def revision_of(pending: Contents) -> str:
    """Follows from what would be taken, so that two clusters that wait for the same thing show the same word."""
    digest = sha256()
    for key in sorted(pending):
        digest.update(
            f"{key}\0".encode() + msgspec.json.encode(pending[key].spec, order="deterministic") + b"\0"
        )
    return digest.hexdigest()[:REVISION_LENGTH]


def notice(at: Situation, waiting: Waiting) -> Notice:
    newer = waiting.newer
    if not newer:
        return Notice(False, reasons.UP_TO_DATE, "every template is in force as it stands")
    if waiting.refusal:
        return Notice(
            True, reasons.UPDATE_REFUSED, f"{waiting.refusal}. What was in force stays; mend the template"
        )
    moved = "; ".join(_moved(key, waiting.in_force.get(key), new) for key, new in newer.items())
    summary = f"{moved}; {_impact(at, waiting)}"
    if set(newer) <= set(waiting.left_behind):
        return Notice(True, reasons.ROLLED_BACK, f"{summary}. This cluster went back from it: {_by_hand(at)}")
    if at.mode == WINDOW:
        return Notice(True, reasons.WAITING_FOR_WINDOW, f"{summary}. {_by_window(at)}, or {_by_hand(at)}")
    cure = f"{_by_hand(at)}, or set spec.updatePolicy.acceptedRevision to {revision_of(newer)}"
    return Notice(True, reasons.WAITING_FOR_APPROVAL, f"{summary}. To apply, {cure}")


def _impact(at: Situation, waiting: Waiting) -> str:
    before, after = attempt(at, waiting.in_force), attempt(at, {**waiting.in_force, **waiting.newer})
    changes = [] if before.problems else validate_update(before.resolved, after.resolved)
    if problems := [*after.problems, *changes]:
        return f"it cannot be used as it is: {told(problems)}"
    found = restarts(before.resolved, after.resolved)
    more = f" and {len(found) - TOLD_RESTARTS} more" if len(found) > TOLD_RESTARTS else ""
    return f"restarts {', '.join(found[:TOLD_RESTARTS])}{more}" if found else "restarts nothing"


def _by_hand(at: Situation) -> str:
    namespace, name = at.identity
    return f"run `kubectl annotate multigrescluster {name} -n {namespace} {APPLY_NOW}=true`"


def _by_window(at: Situation) -> str:
    opening = at.next_window
    return (
        "No window can be read" if opening is None else f"It applies when the window opens at {utc(opening)}"
    )


def utc(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def step(old: Content | None, new: Content) -> str:
    return (
        f"generation {new.generation}" if old is None else f"generation {old.generation} → {new.generation}"
    )


def _moved(key: TemplateKey, old: Content | None, new: Content) -> str:
    if old is None:
        return f"{key.told} has appeared ({step(old, new)})"
    happened = "has pending changes" if old.uid == new.uid else "was made anew"
    return f"{key.told} {happened} ({step(old, new)})"
