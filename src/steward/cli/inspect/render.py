"""A family as lines of text: problems unfold, equal healthy siblings fold into one line. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from steward.cli.inspect.ages import ago
from steward.cli.inspect.object_tree import Branch, Health

MARKS = {Health.READY: "✓", Health.WAITING: "…", Health.FAILED: "✗"}


Fold = Callable[[tuple[Branch, ...]], Iterator[Branch | str]]
"""What is drawn of the children of one parent: each by itself, or a line for many."""


class Line(NamedTuple):
    health: Health
    text: str


def drawn(branches: tuple[Branch, ...], now: float, fold: Fold | None = None) -> list[Line]:
    chosen = fold or folded
    return [line for branch in branches for line in _root(branch, now, chosen)]


def _root(branch: Branch, now: float, fold: Fold) -> Iterator[Line]:
    yield Line(branch.member.health, _text(branch, now, with_namespace=True))
    if not branch.is_well or branch.children:
        yield from _below(branch, "", now, fold)


def _below(branch: Branch, indent: str, now: float, fold: Fold) -> Iterator[Line]:
    entries = list(fold(branch.children))
    for number, entry in enumerate(entries):
        is_last = number == len(entries) - 1
        joint, further = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        if isinstance(entry, str):
            yield Line(Health.READY, f"{indent}{joint}{entry}")
            continue
        yield Line(entry.member.health, indent + joint + _text(entry, now, with_namespace=False))
        yield from _below(entry, indent + further, now, fold)


def whole(children: tuple[Branch, ...]) -> Iterator[Branch | str]:
    """Nothing is folded."""
    return iter(children)


def folded(children: tuple[Branch, ...]) -> Iterator[Branch | str]:
    """Children one by one, but those of one kind that are well, with all that is theirs, as one line."""
    for kind, siblings in groupby(children, key=lambda child: child.member.ref.kind.kind):
        listed = list(siblings)
        well = [child for child in listed if child.is_well]
        yield from (child for child in listed if not child.is_well)
        if len(well) == 1:
            yield f"{MARKS[Health.READY]} {kind} {well[0].member.ref.key.name}"
        elif well:
            yield f"{MARKS[Health.READY]} {len(well)} × {kind}"


def _text(branch: Branch, now: float, *, with_namespace: bool) -> str:
    member = branch.member
    name = str(member.ref.key) if with_namespace else member.ref.key.name
    told = f": {member.message}" if member.message else ""
    since = ago(member.since, now)
    age = f" ({since})" if since else ""
    return f"{MARKS[member.health]} {member.ref.kind.kind} {name}{told}{age}"
