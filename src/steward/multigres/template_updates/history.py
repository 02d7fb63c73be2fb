"""What a person asks about the templates of a cluster: what waits, what was in force, how contents differ. Pure.

Nothing is decided here: a request is an annotation on the cluster, and the operator answers to it as to any other.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.patches import MergePatch
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from steward.multigres.template_updates.revisions import Content, Revision, TemplateKey, in_force


class Change(NamedTuple):
    """A template whose content differs from the one in force; `old` is None for one that has never been."""

    template: TemplateKey
    old: Content | None
    new: Content


class Kept(NamedTuple):
    """A content that the cluster stood on, or stands on."""

    revision: Revision
    is_in_force: bool


def waiting(revisions: Sequence[Revision], live: Mapping[TemplateKey, Content]) -> list[Change]:
    """Of the templates that the cluster uses, those that have moved on."""
    found = []
    for template, known in sorted(in_force(revisions).items()):
        new = live.get(template)
        if new is not None and not new.is_version(known.content) and new.spec != known.content.spec:
            found.append(Change(template, known.content, new))
    return found


def kept(revisions: Iterable[Revision]) -> list[Kept]:
    """By template, the latest first."""
    known = list(revisions)
    current = in_force(known)
    ordered = sorted(known, key=lambda each: (each.template, -each.number))
    return [Kept(each, current[each.template] == each) for each in ordered]


def back_to(revisions: Iterable[Revision], name: str) -> Change | None:
    """What going back to a revision would change; None when no such revision is kept."""
    known = list(revisions)
    found = next((each for each in known if each.name == name), None)
    if found is None:
        return None
    return Change(found.template, in_force(known)[found.template].content, found.content)


def difference(change: Change) -> list[str]:
    """Line by line, as `diff -u` shows it; nothing when both say the same."""
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
    """Every value with the path to it: a line that differs can be read by itself."""
    if isinstance(value, Mapping) and value:
        for name in sorted(value):
            yield from _leaves(value[name], f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield from _leaves(each, f"{path}[{number}]")
    else:
        yield path, str(value)


def accepting(version: str) -> MergePatch:
    """Of the cluster as it was seen: what was shown is what is accepted."""
    return _annotated(version, APPLY_NOW, "true")


def going_back(version: str, revision: str) -> MergePatch:
    return _annotated(version, ROLL_BACK, revision)


def _annotated(version: str, name: str, value: str) -> MergePatch:
    return MergePatch.metadata_as_seen(version, annotations={name: value})
