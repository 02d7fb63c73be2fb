"""Where two versions of an object differ: the paths alone, never a value. Pure."""

from collections.abc import Iterator
from typing import Any, Final

_BOOKKEEPING: Final = frozenset({"managedFields", "resourceVersion", "generation", "status"})
MOST: Final = 20


def changed_paths(before: Any, after: Any) -> tuple[str, ...]:
    """At most so many, in the order of the object."""
    found = _paths(before or {}, after, "")
    return tuple(path for path, _ in zip(found, range(MOST), strict=False))


def _paths(before: Any, after: Any, path: str) -> Iterator[str]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            if name not in _BOOKKEEPING:
                yield from _paths(before.get(name), after.get(name), f"{path}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _paths(old, new, f"{path}[{index}]")
    else:
        yield path
