"""Renders a preview as text: deletions first, changes as a diff, creations, and counts. Pure.

Values of Secrets are never shown, only whether they would change.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import yaml

from steward.cli.output import describe_count
from steward.cli.preview.secret_masking import mask_message, mask_secrets
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.patches import JsonPatch
from steward.runtime.plan.dry_run import DryRunOutcome, DryRunResult
from steward.runtime.plan.steps import Apply, Create, Delete, Hold, Patch, Step, step_target

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
    DryRunOutcome.DELETE: "delete",
    DryRunOutcome.CHANGE: "change",
    DryRunOutcome.CREATE: "create",
}
_ORDER: Final = (
    DryRunOutcome.DELETE,
    DryRunOutcome.HELD,
    DryRunOutcome.REJECTED,
    DryRunOutcome.DEFERRED,
    DryRunOutcome.UNKNOWN,
    DryRunOutcome.CHANGE,
    DryRunOutcome.CREATE,
)
"""What a user must not overlook comes first."""
_CHANGES: Final = (DryRunOutcome.CREATE, DryRunOutcome.CHANGE, DryRunOutcome.DELETE, DryRunOutcome.HELD)
_MAX_LISTED: Final = {
    DryRunOutcome.CREATE: 20,
    DryRunOutcome.DELETE: 20,
    DryRunOutcome.CHANGE: 3,
    DryRunOutcome.DEFERRED: 20,
    DryRunOutcome.REJECTED: 5,
}
"""How many objects of a kind are listed; the total is always shown. A template change affects many objects alike."""


class PreviewEntry(NamedTuple):
    """One effect of the change."""

    outcome: DryRunOutcome
    ref: Ref | None
    diff: tuple[str, ...] = ()
    message: str = ""
    amount: int = 1
    """How many objects are held or wait, where one entry is about several."""
    counted: str = ""
    """The kind of those objects, if it is not that of `ref`."""

    @property
    def counted_kind(self) -> str:
        return self.counted or ("" if self.ref is None else self.ref.kind.kind)


def sort_entries(entries: Iterable[PreviewEntry]) -> list[PreviewEntry]:
    """Deletions first, then what does not happen, then the other changes."""
    return sorted(entries, key=lambda each: (_ORDER.index(each.outcome), str(each.ref)))


def preview_entries(results: Iterable[DryRunResult]) -> list[PreviewEntry]:
    """The effects to show, deletions and holds first."""
    return sort_entries(entry for each in results for entry in preview_entry(each))


def preview_entry(result: DryRunResult) -> list[PreviewEntry]:
    """The entry of one step; none for a step without an effect."""
    step, outcome = result.step, result.outcome
    if outcome not in MARKS:
        return []
    if isinstance(step, Hold):
        return [PreviewEntry(outcome, None, message=step.message, amount=step.count)]
    message = step.reason if isinstance(step, Delete) else mask_message(result.problem, _sent(step))
    diff = tuple(manifest_diff(result.before, result.after)) if outcome is DryRunOutcome.CHANGE else ()
    return [PreviewEntry(outcome, step_target(step), diff, message)]


def _sent(step: Step) -> Manifest | None:
    """The content that a step sends to the API server."""
    if isinstance(step, Apply | Create):
        return step.manifest
    return step.patch.changes if isinstance(step, Patch) and not isinstance(step.patch, JsonPatch) else None


def manifest_diff(before: Manifest | None, after: Manifest | None) -> Iterator[str]:
    old, new = mask_secrets(before or {}, after or {})
    lines = difflib.unified_diff(_manifest_lines(old), _manifest_lines(new), "now", "then", n=2, lineterm="")
    yield from lines


def _manifest_lines(manifest: Manifest) -> list[str]:
    without_status = {name: value for name, value in manifest.items() if name != "status"}
    text = yaml.dump(without_status, Dumper=yaml.CSafeDumper, sort_keys=False, width=110, allow_unicode=True)
    return text.splitlines()


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
            more = describe_count(count - most[outcome], kind)
            yield f"{MARKS[outcome]} and {more} more (-o wide shows all)", outcome
    yield summarize(entries), None


def _entry_lines(each: PreviewEntry) -> Iterator[tuple[str, DryRunOutcome | None]]:
    about = ": ".join(part for part in ("" if each.ref is None else str(each.ref), each.message) if part)
    yield f"{MARKS[each.outcome]} {about}", each.outcome
    for line in each.diff[2:]:
        yield f"    {line}", _diff_line_outcome(line)


def _diff_line_outcome(line: str) -> DryRunOutcome | None:
    return {"+": DryRunOutcome.CREATE, "-": DryRunOutcome.DELETE}.get(line[:1])


def summarize(entries: list[PreviewEntry]) -> str:
    """`Would delete 2 Tenants, create 1 Tenant, 1 ConfigMap. 24 deletions are held.`"""
    parts = [
        f"{word} {counts}" for outcome, word in _VERBS.items() if (counts := _count_by_kind(entries, outcome))
    ]
    held = sum(each.amount for each in entries if each.outcome is DryRunOutcome.HELD)
    refused, waiting, unknown = (
        _count_by_kind(entries, outcome)
        for outcome in (DryRunOutcome.REJECTED, DryRunOutcome.DEFERRED, DryRunOutcome.UNKNOWN)
    )
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
    counts: Counter[str] = Counter()
    for each in entries:
        if each.outcome is outcome and each.ref is not None:
            counts[each.counted_kind] += each.amount
    return ", ".join(describe_count(count, kind) for kind, count in sorted(counts.items()))


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
        **({"message": entry.message} if entry.message else {}),
        **({"diff": list(entry.diff)} if entry.diff else {}),
    }
