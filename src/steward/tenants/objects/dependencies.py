"""The dependency graph of resources: cycles, levels to apply in, and the reverse for deletion. Pure.

Resources of one level are independent of each other and may be applied concurrently; a level starts after all levels
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


class UnknownDependency(NamedTuple):
    """A dependency on a resource that does not exist."""

    id: str
    dependency: str


class CycleError(ValueError):
    """Resources that depend on each other; `path` begins and ends with the same one."""

    def __init__(self, path: Sequence[str]) -> None:
        super().__init__(f"Dependency cycle detected: {' -> '.join(path)}")
        self.path = tuple(path)


def dependency_edges(resources: Iterable[TResource]) -> dict[str, tuple[str, ...]]:
    """For a duplicate id, which validation rejects, the dependencies of all resources with it."""
    edges: dict[str, tuple[str, ...]] = {}
    for resource in resources:
        dependencies = () if resource.depend_ids is UNSET else tuple(resource.depend_ids)
        edges[resource.id] = (*edges.get(resource.id, ()), *dependencies)
    return edges


def duplicate_ids(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(id for id, count in Counter(ids).items() if count > 1)


def unknown_dependencies(edges: Edges) -> tuple[UnknownDependency, ...]:
    return tuple(
        UnknownDependency(dependent, dependency)
        for dependent, dependencies in edges.items()
        for dependency in dependencies
        if dependency not in edges
    )


def find_cycle(edges: Edges) -> tuple[str, ...] | None:
    """A path from a resource back to itself, or None. Unknown dependencies are skipped."""
    finished: set[str] = set()
    for start in edges:
        path = _find_cycle_from(start, edges, finished)
        if path is not None:
            return path
    return None


def _find_cycle_from(start: str, edges: Edges, finished: set[str]) -> tuple[str, ...] | None:
    """Depth-first search from one resource; `finished` holds resources from which no cycle can be reached."""
    if start in finished:
        return None
    path, pending = {start: None}, [iter(edges[start])]
    while pending:
        following = next((step for step in pending[-1] if step in edges and step not in finished), None)
        if following is None:
            pending.pop()
            finished.add(path.popitem()[0])
        elif following in path:
            steps = list(path)
            return (*steps[steps.index(following) :], following)
        else:
            path[following] = None
            pending.append(iter(edges[following]))
    return None


def apply_levels(edges: Edges) -> Levels:
    """The levels to apply in; CycleError if there are none. Unknown dependencies are ignored."""
    cycle = find_cycle(edges)
    if cycle is not None:
        raise CycleError(cycle)
    waiting = {id: {found for found in dependencies if found in edges} for id, dependencies in edges.items()}
    dependents = dependents_of(edges)
    ordered: list[tuple[str, ...]] = []
    level = tuple(id for id, dependencies in waiting.items() if not dependencies)
    while level:
        ordered.append(level)
        level = _next_level(level, waiting, dependents)
    return tuple(ordered)


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
    """The levels to delete in: dependents first. A cycle is one level, so that it can be deleted at all."""
    try:
        return tuple(reversed(apply_levels(edges)))
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
