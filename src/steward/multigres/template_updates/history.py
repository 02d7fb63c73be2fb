"""Pending changes and revision history of a cluster's templates, for the CLI. Pure.

Decides nothing: accepting a change or rolling back is an annotation on the cluster, which the operator processes.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.patches import MergePatch
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision, active_revisions


class TemplateChange(NamedTuple):
    """A change of a template's content; `old` is None if no content was active."""

    template: TemplateKey
    old: TemplateContent | None
    new: TemplateContent


class RevisionEntry(NamedTuple):
    """A stored revision, and whether it is active."""

    revision: TemplateRevision
    is_active: bool


def pending_changes(
    revisions: Sequence[TemplateRevision], live: Mapping[TemplateKey, TemplateContent]
) -> list[TemplateChange]:
    """Templates of the cluster whose live content differs from the active one."""
    changes = []
    for template, revision in sorted(active_revisions(revisions).items()):
        old, new = revision.content, live.get(template)
        if new is not None and not new.is_same_version(old) and new.spec != old.spec:
            changes.append(TemplateChange(template, old, new))
    return changes


def revision_history(revisions: Iterable[TemplateRevision]) -> list[RevisionEntry]:
    """By template, the latest revision first."""
    stored = list(revisions)
    active = active_revisions(stored)
    ordered = sorted(stored, key=lambda each: (each.template, -each.number))
    return [RevisionEntry(each, active[each.template] == each) for each in ordered]


def rollback_change(revisions: Iterable[TemplateRevision], name: str) -> TemplateChange | None:
    """The change that a rollback to a revision makes; None if the revision does not exist."""
    stored = list(revisions)
    target = next((each for each in stored if each.name == name), None)
    if target is None:
        return None
    return TemplateChange(target.template, active_revisions(stored)[target.template].content, target.content)


def diff_lines(change: TemplateChange) -> list[str]:
    """A unified diff; empty if both contents are equal."""
    old = {} if change.old is None else change.old.spec
    before = "nothing" if change.old is None else f"generation {change.old.generation}"
    return list(
        difflib.unified_diff(
            _lines(old),
            _lines(change.new.spec),
            f"{change.template} {before}",
            f"{change.template} generation {change.new.generation}",
            lineterm="",
        )
    )


def _lines(value: Mapping[str, Any]) -> list[str]:
    return [f"{path}: {leaf}" for path, leaf in _leaves(value, "")]


def _leaves(value: object, path: str) -> Iterable[tuple[str, str]]:
    """Every value with its full path, so that each line of the diff can be read alone."""
    if isinstance(value, Mapping) and value:
        for name in sorted(value):
            yield from _leaves(value[name], f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield from _leaves(each, f"{path}[{number}]")
    else:
        yield path, str(value)


def accept_patch(version: str) -> MergePatch:
    """Conditional on the resourceVersion: accepts only the changes that were shown to the user."""
    return _annotation_patch(version, APPLY_NOW, "true")


def rollback_patch(version: str, revision: str) -> MergePatch:
    return _annotation_patch(version, ROLL_BACK, revision)


def _annotation_patch(version: str, name: str, value: str) -> MergePatch:
    return MergePatch.metadata_at_version(version, annotations={name: value})
