"""What depends on what: cycles, levels to apply in, and the reverse to delete in.

Resources of one level are independent of each other and may be applied side by side; a level is only begun after those
before it. Nothing here recurses: a chain may be as long as a template.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET

Edges = Mapping[str, Sequence[str]]
"""By id, the ids that it depends on, in the order of the template."""
Levels = tuple[tuple[str, ...], ...]


class Unknown(NamedTuple):
    """A dependency on something that is not there."""

    id: str
    dependency: str


class CycleError(ValueError):
    """Resources that wait for each other; `path` begins and ends with the same one."""

    def __init__(self, path: Sequence[str]) -> None:
        super().__init__(f"Dependency cycle detected: {' -> '.join(path)}")
        self.path = tuple(path)


def edges_of(resources: Iterable[TResource]) -> dict[str, tuple[str, ...]]:
    """Of an id that occurs twice, which is refused elsewhere, the dependencies of both."""
    edges: dict[str, tuple[str, ...]] = {}
    for resource in resources:
        own = () if resource.depend_ids is UNSET else tuple(resource.depend_ids)
        edges[resource.id] = (*edges.get(resource.id, ()), *own)
    return edges


def repeated(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(found for found, count in Counter(ids).items() if count > 1)


def unknown_dependencies(edges: Edges) -> tuple[Unknown, ...]:
    return tuple(
        Unknown(dependent, dependency)
        for dependent, dependencies in edges.items()
        for dependency in dependencies
        if dependency not in edges
    )


def find_cycle(edges: Edges) -> tuple[str, ...] | None:
    """A way from a resource back to itself, or None. Unknown dependencies lead nowhere."""
    finished: set[str] = set()
    for start in edges:
        path = _walk(start, edges, finished)
        if path is not None:
            return path
    return None


def _walk(start: str, edges: Edges, finished: set[str]) -> tuple[str, ...] | None:
    """Depth first from one resource; `finished` are those from which no cycle can be reached."""
    if start in finished:
        return None
    path, ahead = {start: None}, [iter(edges[start])]
    while ahead:
        following = next((step for step in ahead[-1] if step in edges and step not in finished), None)
        if following is None:
            ahead.pop()
            finished.add(path.popitem()[0])
        elif following in path:
            steps = list(path)
            return (*steps[steps.index(following) :], following)
        else:
            path[following] = None
            ahead.append(iter(edges[following]))
    return None


def levels(edges: Edges) -> Levels:
    """In which order to apply; CycleError if there is none. A dependency that is unknown holds nothing back."""
    cycle = find_cycle(edges)
    if cycle is not None:
        raise CycleError(cycle)
    waiting = {id: {found for found in dependencies if found in edges} for id, dependencies in edges.items()}
    dependents = dependents_of(edges)
    found: list[tuple[str, ...]] = []
    level = tuple(id for id, dependencies in waiting.items() if not dependencies)
    while level:
        found.append(level)
        level = _next_level(level, waiting, dependents)
    return tuple(found)


def _next_level(
    level: Iterable[str], waiting: dict[str, set[str]], dependents: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    freed: dict[str, None] = {}
    for done in level:
        for dependent in dependents[done]:
            waiting[dependent].discard(done)
            if not waiting[dependent]:
                freed[dependent] = None
    return tuple(freed)


def deletion_levels(edges: Edges) -> Levels:
    """In which order to delete: what nothing depends on goes first. A cycle goes all at once: it must go somehow."""
    try:
        return tuple(reversed(levels(edges)))
    except CycleError:
        return (tuple(edges),)


def dependents_of(edges: Edges) -> dict[str, list[str]]:
    """By id, the ids that depend on it."""
    found: dict[str, list[str]] = {id: [] for id in edges}
    for id, dependencies in edges.items():
        for dependency in dict.fromkeys(dependencies):
            if dependency in found:
                found[dependency].append(id)
    return found
