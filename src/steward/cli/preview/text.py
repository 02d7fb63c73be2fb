"""Renders a preview as text: creations, changes as a diff, deletions, and counts. Pure.

Values of Secrets are never shown, only whether they would change.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import yaml

from steward.kube.objects.kinds import Manifest, Ref
from steward.runtime.plan.dry_run import DryRunOutcome, DryRunResult
from steward.runtime.plan.steps import Delete, Hold, step_target

MARKS: Final = {
    DryRunOutcome.CREATE: "+",
    DryRunOutcome.CHANGE: "~",
    DryRunOutcome.DELETE: "-",
    DryRunOutcome.HELD: "!",
    DryRunOutcome.DEFERRED: "…",
    DryRunOutcome.REJECTED: "✗",
    DryRunOutcome.UNKNOWN: "?",
}
_OUTPUT_NAMES: Final = {
    DryRunOutcome.CREATE: "create",
    DryRunOutcome.CHANGE: "change",
    DryRunOutcome.DELETE: "delete",
    DryRunOutcome.HELD: "held",
    DryRunOutcome.DEFERRED: "waits",
    DryRunOutcome.REJECTED: "refused",
    DryRunOutcome.UNKNOWN: "unknown",
}
"""Values of `verdict` in JSON and YAML output; programs depend on them."""
_VERBS: Final = {
    DryRunOutcome.CREATE: "create",
    DryRunOutcome.CHANGE: "change",
    DryRunOutcome.DELETE: "delete",
}
_CHANGES: Final = (DryRunOutcome.CREATE, DryRunOutcome.CHANGE, DryRunOutcome.DELETE, DryRunOutcome.HELD)
_MAX_LISTED: Final = {
    DryRunOutcome.CREATE: 20,
    DryRunOutcome.DELETE: 20,
    DryRunOutcome.CHANGE: 3,
    DryRunOutcome.DEFERRED: 20,
}
"""How many objects of a kind are listed; the total is always shown. A template change affects many objects alike."""


class PreviewEntry(NamedTuple):
    """One effect of the change."""

    outcome: DryRunOutcome
    ref: Ref | None
    diff: tuple[str, ...] = ()
    message: str = ""


def preview_entries(results: Iterable[DryRunResult]) -> list[PreviewEntry]:
    """The effects to show, deletions and holds first."""
    found = [_preview_entry(each) for each in results if each.outcome in MARKS]
    order = list(reversed([*MARKS]))
    return sorted(found, key=lambda each: (order.index(each.outcome), str(each.ref)))


def _preview_entry(result: DryRunResult) -> PreviewEntry:
    step = result.step
    message = result.problem
    if isinstance(step, Hold):
        message = step.message
    elif isinstance(step, Delete):
        message = step.reason
    diff = tuple(manifest_diff(result.before, result.after)) if result.outcome is DryRunOutcome.CHANGE else ()
    return PreviewEntry(result.outcome, step_target(step), diff, message)


def manifest_diff(before: Manifest | None, after: Manifest | None) -> Iterator[str]:
    old, new = _mask_secret_data(before or {}, after or {})
    lines = difflib.unified_diff(_manifest_lines(old), _manifest_lines(new), "now", "then", n=2, lineterm="")
    yield from lines


def _manifest_lines(manifest: Manifest) -> list[str]:
    without_status = {name: value for name, value in manifest.items() if name != "status"}
    text = yaml.dump(without_status, Dumper=yaml.CSafeDumper, sort_keys=False, width=110, allow_unicode=True)
    return text.splitlines()


def _mask_secret_data(before: Manifest, after: Manifest) -> tuple[Manifest, Manifest]:
    if "Secret" not in (before.get("kind"), after.get("kind")):
        return before, after
    old, new = before.get("data") or {}, after.get("data") or {}
    then = {key: "(as it is)" if old.get(key) == value else "(another value)" for key, value in new.items()}
    return {**before, "data": dict.fromkeys(old, "(as it is)")}, {**after, "data": then}


def render_entries(
    entries: list[PreviewEntry], most: Mapping[DryRunOutcome, int] = _MAX_LISTED
) -> Iterator[tuple[str, DryRunOutcome | None]]:
    """Lines, each with the outcome that decides its colour."""
    shown: Counter[tuple[DryRunOutcome, str]] = Counter()
    for each in entries:
        kind = "" if each.ref is None else each.ref.kind.kind
        shown[each.outcome, kind] += 1
        if shown[each.outcome, kind] <= most.get(each.outcome, len(entries)):
            yield from _entry_lines(each)
    for (outcome, kind), count in shown.items():
        if count > most.get(outcome, count):
            yield f"{MARKS[outcome]} and {count - most[outcome]} more {kind} (-o wide shows all)", outcome
    yield summarize(entries), None


def _entry_lines(each: PreviewEntry) -> Iterator[tuple[str, DryRunOutcome | None]]:
    name = "" if each.ref is None else f" {each.ref}"
    reason = f": {each.message}" if each.message else ""
    yield f"{MARKS[each.outcome]}{name}{reason}", each.outcome
    for line in each.diff[2:]:
        yield f"    {line}", _diff_line_outcome(line)


def _diff_line_outcome(line: str) -> DryRunOutcome | None:
    return {"+": DryRunOutcome.CREATE, "-": DryRunOutcome.DELETE}.get(line[:1])


def summarize(entries: list[PreviewEntry]) -> str:
    """`Would create 1 Tenant, 1 ConfigMap, delete 2 Tenant. 24 deletions are held.`"""
    parts = [
        f"{word} {counts}" for outcome, word in _VERBS.items() if (counts := _count_by_kind(entries, outcome))
    ]
    held = sum(1 for each in entries if each.outcome is DryRunOutcome.HELD)
    refused, waiting = (
        _count_by_kind(entries, DryRunOutcome.REJECTED),
        _count_by_kind(entries, DryRunOutcome.DEFERRED),
    )
    unknown = _count_by_kind(entries, DryRunOutcome.UNKNOWN)
    sentences = [f"Would {', '.join(parts)}."] if parts else []
    if held:
        sentences.append(f"{held} deletion{'s are' if held > 1 else ' is'} held.")
    if refused:
        sentences.append(f"{refused} would be refused.")
    if waiting:
        sentences.append(f"{waiting} would wait.")
    if unknown:
        sentences.append(f"Of {unknown} it cannot be known yet.")
    return " ".join(sentences) or "Nothing would change."


def _count_by_kind(entries: list[PreviewEntry], outcome: DryRunOutcome) -> str:
    counts = Counter(
        each.ref.kind.kind for each in entries if each.outcome is outcome and each.ref is not None
    )
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


def has_changes(entries: list[PreviewEntry]) -> bool:
    return any(each.outcome in _CHANGES for each in entries)


def has_problems(entries: list[PreviewEntry]) -> bool:
    """Whether the server would reject something, or the only effects cannot be known."""
    outcomes = {each.outcome for each in entries}
    return DryRunOutcome.REJECTED in outcomes or (
        DryRunOutcome.UNKNOWN in outcomes and not has_changes(entries)
    )


def entry_dict(entry: PreviewEntry) -> dict[str, Any]:
    """The entry for JSON and YAML output."""
    ref = entry.ref
    where = (
        {} if ref is None else {"kind": ref.kind.kind, "namespace": ref.key.namespace, "name": ref.key.name}
    )
    return {
        "verdict": _OUTPUT_NAMES[entry.outcome],
        **where,
        **({"told": entry.message} if entry.message else {}),
        **({"diff": list(entry.diff)} if entry.diff else {}),
    }
