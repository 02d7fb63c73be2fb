"""Trees that grow: for each root, how many of each kind of its parts are ready, and how long that took. Pure.

Times count from when the watching began. A kind that was complete and has grown since is not complete any more.
Whatever the size of the terminal, each line shows its count and its time: columns are as wide as there is room, and
what is complete is left out before anything is cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from steward.cli.inspect.object_tree import KINDS, Branch, Health
from steward.cli.inspect.render import MARKS
from steward.kube.objects.kinds import Ref

_HIDDEN: Final = ("ReplicaSet",)
_WIDEST: Final = 49
_NARROWEST: Final = 38


class Part(NamedTuple):
    """All parts of one kind below a root; the root itself is a part of its own kind."""

    root: Ref
    kind: str
    ready: int
    total: int

    @property
    def is_complete(self) -> bool:
        return self.ready == self.total


class GrowthLine(NamedTuple):
    health: Health
    text: str


class Room(NamedTuple):
    """How much of a picture can be seen."""

    width: int
    height: int


UNLIMITED: Final = Room(width=1000, height=1000)


def parts(branch: Branch) -> list[Part]:
    """The root first, then its parts in the order in which the tree has them."""
    counts: dict[str, list[int]] = {}
    for child in branch.children:
        for member in child.walk():
            ready_and_total = counts.setdefault(member.ref.kind.kind, [0, 0])
            ready_and_total[0] += member.health is Health.READY
            ready_and_total[1] += 1
    root = branch.member
    order = [kind.kind for kind in KINDS if kind.kind in counts and kind.kind not in _HIDDEN]
    return [
        Part(root.ref, root.ref.kind.kind, int(root.health is Health.READY), 1),
        *(Part(root.ref, kind, *counts[kind]) for kind in order),
    ]


@dataclass
class Growth:
    """What was seen so far."""

    completed: dict[tuple[Ref, str], float] = field(default_factory=dict)
    _trees: list[list[Part]] = field(default_factory=list)

    def see(self, branches: tuple[Branch, ...], seconds: float) -> list[str]:
        """Takes in how things are now, and gives a sentence for each kind that has become complete."""
        self._trees = [parts(branch) for branch in branches]
        news = []
        for part in (part for tree in self._trees for part in tree):
            key = (part.root, part.kind)
            if not part.is_complete:
                self.completed.pop(key, None)
            elif key not in self.completed:
                self.completed[key] = seconds
                news.append(f"{_seconds(seconds)}  {_told(part)}")
        return news

    def lines(self, seconds: float, room: Room = UNLIMITED) -> list[GrowthLine]:
        """All parts; where they do not fit, those that are not complete; where even they do not, the roots."""
        columns = min(max(room.width, _NARROWEST), _WIDEST)
        shown = _fitting(self._trees, room.height)
        return [line for tree in shown for line in self._tree(tree, seconds, columns)]

    def _tree(self, tree: list[Part], seconds: float, columns: int) -> Iterator[GrowthLine]:
        root, *below = tree
        name = f"{root.kind} {root.root.key}"
        yield self._line(root, _row(name, "", columns), seconds)
        for number, part in enumerate(below):
            joint = "└─" if number == len(below) - 1 else "├─"
            yield self._line(
                part, _row(f"{joint} {part.kind}", f"{part.ready} of {part.total}", columns), seconds
            )

    def _line(self, part: Part, text: str, seconds: float) -> GrowthLine:
        health = Health.READY if part.is_complete else Health.WAITING
        at = self.completed.get((part.root, part.kind), seconds)
        return GrowthLine(health, f"{MARKS[health]} {text}{_seconds(at)}")


def _row(name: str, count: str, columns: int) -> str:
    """As wide as leaves room for the mark and the time; the count stands at the right."""
    width = columns - len("✓ ") - len(_seconds(0))
    count = f" {count}" if count else ""
    space = width - len(count)
    return (name if len(name) <= space else f"{name[: space - 1]}…").ljust(space) + count


def _fitting(trees: list[list[Part]], height: int) -> list[list[Part]]:
    waiting = [[root, *(part for part in below if not part.is_complete)] for root, *below in trees]
    for shown in (trees, waiting):
        if sum(map(len, shown)) <= height:
            return shown
    return [tree[:1] for tree in trees]


def _seconds(seconds: float) -> str:
    return f"{seconds:6.1f} s"


def _told(part: Part) -> str:
    root = f"{part.root.kind.kind} {part.root.key}"
    if part.kind == part.root.kind.kind and part.total == 1:
        return f"{root} is ready"
    return f"{root}: {part.total} {part.kind} ready"
