"""Progress of object trees: for each root and kind, how many objects are ready and how long that took. Pure.

Times count from the start of the watch. A complete kind that gets a new object is incomplete again. Every line shows
its count and its time at any terminal size: columns shrink to the width, and complete kinds are left out first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from steward.cli.inspect.object_health import Health
from steward.cli.inspect.object_tree import KINDS, TreeNode
from steward.cli.inspect.render import MARKS
from steward.kube.objects.kinds import Ref

_HIDDEN_KINDS: Final = ("ReplicaSet", "Service", "Ingress", "PersistentVolumeClaim")
"""They have nothing to wait for, or belong to a workload that is counted."""
_WIDEST: Final = 49
_NARROWEST: Final = 38


class KindProgress(NamedTuple):
    """The objects of one kind below a root; the root counts for its own kind."""

    root: Ref
    kind: str
    ready: int
    total: int

    @property
    def is_complete(self) -> bool:
        return self.ready == self.total


class ProgressLine(NamedTuple):
    health: Health
    text: str


class ScreenSize(NamedTuple):
    """Columns and lines of the terminal."""

    width: int
    height: int


UNLIMITED: Final = ScreenSize(width=1000, height=1000)


def kind_progress(node: TreeNode) -> list[KindProgress]:
    """The root first, then the kinds below it in the order of `KINDS`."""
    counts: dict[str, list[int]] = {}
    for child in node.children:
        for obj in child.walk():
            ready_and_total = counts.setdefault(obj.ref.kind.kind, [0, 0])
            ready_and_total[0] += obj.health is Health.READY
            ready_and_total[1] += 1
    root = node.object
    order = [kind.kind for kind in KINDS if kind.kind in counts and kind.kind not in _HIDDEN_KINDS]
    return [
        KindProgress(root.ref, root.ref.kind.kind, int(root.health is Health.READY), 1),
        *(KindProgress(root.ref, kind, *counts[kind]) for kind in order),
    ]


@dataclass
class TreeProgress:
    """The progress so far; `completed` holds the time at which each kind became complete."""

    completed: dict[tuple[Ref, str], float] = field(default_factory=dict)
    _trees: list[list[KindProgress]] = field(default_factory=list)

    def update(self, trees: tuple[TreeNode, ...], seconds: float) -> list[str]:
        """Takes the current trees; returns a message for each kind that became complete."""
        self._trees = [kind_progress(node) for node in trees]
        completed = []
        for progress in (progress for tree in self._trees for progress in tree):
            key = (progress.root, progress.kind)
            if not progress.is_complete:
                self.completed.pop(key, None)
            elif key not in self.completed:
                self.completed[key] = seconds
                completed.append(f"{_format_seconds(seconds)}  {_completion_message(progress)}")
        return completed

    def render(self, seconds: float, size: ScreenSize = UNLIMITED) -> list[ProgressLine]:
        """All lines; if they do not fit, only incomplete kinds; if these do not fit, only the roots."""
        columns = min(max(size.width, _NARROWEST), _WIDEST)
        shown = _fit_height(self._trees, size.height)
        return [line for tree in shown for line in self._tree_lines(tree, seconds, columns)]

    def _tree_lines(self, tree: list[KindProgress], seconds: float, columns: int) -> Iterator[ProgressLine]:
        root, *kinds = tree
        name = f"{root.kind} {root.root.key}"
        yield self._progress_line(root, _format_row(name, "", columns), seconds)
        for number, progress in enumerate(kinds):
            branch = "└─" if number == len(kinds) - 1 else "├─"
            yield self._progress_line(
                progress,
                _format_row(f"{branch} {progress.kind}", f"{progress.ready} of {progress.total}", columns),
                seconds,
            )

    def _progress_line(self, progress: KindProgress, text: str, seconds: float) -> ProgressLine:
        health = Health.READY if progress.is_complete else Health.WAITING
        time = self.completed.get((progress.root, progress.kind), seconds)
        return ProgressLine(health, f"{MARKS[health]} {text}{_format_seconds(time)}")


def _format_row(name: str, count: str, columns: int) -> str:
    """Pads to leave room for the mark and the time; the count is right-aligned."""
    width = columns - len("✓ ") - len(_format_seconds(0))
    count = f" {count}" if count else ""
    space = width - len(count)
    return (name if len(name) <= space else f"{name[: space - 1]}…").ljust(space) + count


def _fit_height(trees: list[list[KindProgress]], height: int) -> list[list[KindProgress]]:
    waiting = [
        [root, *(progress for progress in kinds if not progress.is_complete)] for root, *kinds in trees
    ]
    for shown in (trees, waiting):
        if sum(map(len, shown)) <= height:
            return shown
    return [tree[:1] for tree in trees]


def _format_seconds(seconds: float) -> str:
    return f"{seconds:6.1f} s"


def _completion_message(progress: KindProgress) -> str:
    root = f"{progress.root.kind.kind} {progress.root.key}"
    if progress.kind == progress.root.kind.kind and progress.total == 1:
        return f"{root} is ready"
    return f"{root}: {progress.total} {progress.kind} ready"
