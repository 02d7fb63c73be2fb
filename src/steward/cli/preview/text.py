"""What was foreseen, as people read it: creates, changes as a diff, deletions with counts. Pure.

What a Secret holds is never shown: a value that would change is only said to change.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import yaml

from steward.kube.objects.kinds import Manifest, Ref
from steward.runtime.plan.dry_run import Foreseen, Verdict
from steward.runtime.plan.steps import Delete, Hold, about

MARKS: Final = {
    Verdict.CREATE: "+",
    Verdict.CHANGE: "~",
    Verdict.DELETE: "-",
    Verdict.HELD: "!",
    Verdict.WAITS: "…",
    Verdict.REFUSED: "✗",
    Verdict.UNKNOWN: "?",
}
_WORDS: Final = {
    Verdict.CREATE: "create",
    Verdict.CHANGE: "change",
    Verdict.DELETE: "delete",
}
_CHANGES: Final = (Verdict.CREATE, Verdict.CHANGE, Verdict.DELETE, Verdict.HELD)
_LISTED: Final = {Verdict.CREATE: 20, Verdict.DELETE: 20, Verdict.CHANGE: 3, Verdict.WAITS: 20}
"""How many of one kind are shown each by itself; the count is always told. A template that changes changes a fleet."""


class Outlook(NamedTuple):
    """One thing that would happen."""

    verdict: Verdict
    ref: Ref | None
    diff: tuple[str, ...] = ()
    told: str = ""


def outlook(foreseen: Iterable[Foreseen]) -> list[Outlook]:
    """What is worth telling, deletions and holds first."""
    found = [_one(each) for each in foreseen if each.verdict in MARKS]
    order = list(reversed([*MARKS]))
    return sorted(found, key=lambda each: (order.index(each.verdict), str(each.ref)))


def _one(foreseen: Foreseen) -> Outlook:
    step = foreseen.step
    told = foreseen.problem
    if isinstance(step, Hold):
        told = step.message
    elif isinstance(step, Delete):
        told = step.reason
    diff = tuple(difference(foreseen.before, foreseen.after)) if foreseen.verdict is Verdict.CHANGE else ()
    return Outlook(foreseen.verdict, about(step), diff, told)


def difference(before: Manifest | None, after: Manifest | None) -> Iterator[str]:
    now, then = _masked(before or {}, after or {})
    lines = difflib.unified_diff(_lines(now), _lines(then), "now", "then", n=2, lineterm="")
    yield from lines


def _lines(manifest: Manifest) -> list[str]:
    without_status = {name: value for name, value in manifest.items() if name != "status"}
    text = yaml.dump(without_status, Dumper=yaml.CSafeDumper, sort_keys=False, width=110, allow_unicode=True)
    return text.splitlines()


def _masked(before: Manifest, after: Manifest) -> tuple[Manifest, Manifest]:
    if "Secret" not in (before.get("kind"), after.get("kind")):
        return before, after
    old, new = before.get("data") or {}, after.get("data") or {}
    then = {key: "(as it is)" if old.get(key) == value else "(another value)" for key, value in new.items()}
    return {**before, "data": dict.fromkeys(old, "(as it is)")}, {**after, "data": then}


def lines(
    found: list[Outlook], most: Mapping[Verdict, int] = _LISTED
) -> Iterator[tuple[str, Verdict | None]]:
    """Each with what it is about, for its colour."""
    shown: Counter[tuple[Verdict, str]] = Counter()
    for each in found:
        kind = "" if each.ref is None else each.ref.kind.kind
        shown[each.verdict, kind] += 1
        if shown[each.verdict, kind] <= most.get(each.verdict, len(found)):
            yield from _told(each)
    for (verdict, kind), count in shown.items():
        if count > most.get(verdict, count):
            yield f"{MARKS[verdict]} and {count - most[verdict]} more {kind} (-o wide shows all)", verdict
    yield total(found), None


def _told(each: Outlook) -> Iterator[tuple[str, Verdict | None]]:
    name = "" if each.ref is None else f" {each.ref}"
    reason = f": {each.told}" if each.told else ""
    yield f"{MARKS[each.verdict]}{name}{reason}", each.verdict
    for line in each.diff[2:]:
        yield f"    {line}", _of_line(line)


def _of_line(line: str) -> Verdict | None:
    return {"+": Verdict.CREATE, "-": Verdict.DELETE}.get(line[:1])


def total(found: list[Outlook]) -> str:
    """`Would create 1 Tenant, 1 ConfigMap, delete 2 Tenant. 24 deletions are held.`"""
    parts = [f"{word} {counts}" for verdict, word in _WORDS.items() if (counts := _counted(found, verdict))]
    held = sum(1 for each in found if each.verdict is Verdict.HELD)
    refused, waiting = _counted(found, Verdict.REFUSED), _counted(found, Verdict.WAITS)
    unknown = _counted(found, Verdict.UNKNOWN)
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


def _counted(found: list[Outlook], verdict: Verdict) -> str:
    counts = Counter(each.ref.kind.kind for each in found if each.verdict is verdict and each.ref is not None)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


def has_changes(found: list[Outlook]) -> bool:
    return any(each.verdict in _CHANGES for each in found)


def has_problems(found: list[Outlook]) -> bool:
    """Something would be refused, or nothing is known but that something cannot be."""
    verdicts = {each.verdict for each in found}
    return Verdict.REFUSED in verdicts or (Verdict.UNKNOWN in verdicts and not has_changes(found))


def plain(each: Outlook) -> dict[str, Any]:
    ref = each.ref
    where = (
        {} if ref is None else {"kind": ref.kind.kind, "namespace": ref.key.namespace, "name": ref.key.name}
    )
    return {
        "verdict": each.verdict.name.lower(),
        **where,
        **({"told": each.told} if each.told else {}),
        **({"diff": list(each.diff)} if each.diff else {}),
    }
