"""JSONPaths of `ignoreFields`: names, indexes, all of a list, and entries of a list by one of their values.

Each match is a place by itself: two containers keep two values. What leads nowhere is no error.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple


class JsonPathError(ValueError):
    """A path that cannot be read; the message shows one that can."""


class Name(NamedTuple):
    name: str


class Index(NamedTuple):
    place: int


class Every(NamedTuple):
    """All entries of a list, or all values of a map."""


class Where(NamedTuple):
    """Entries of a list whose field has a value."""

    field: str
    value: str


Step = Name | Index | Every | Where
Path = tuple[Step, ...]
Concrete = tuple[str | int, ...]
"""One place in one object."""

_STEP: Final = re.compile(
    r"""\.(?P<name>[A-Za-z_][\w-]*)
      | (?P<every>\.\*|\[\*\])
      | \[(?P<index>-?\d+)\]
      | \[(?P<quote>['"])(?P<quoted>[^'"]+)(?P=quote)\]
      | \[\?\(?\s*@\.(?P<field>[\w-]+)\s*==\s*(?P<mark>['"])(?P<value>[^'"]*)(?P=mark)\s*\)?\]
    """,
    re.VERBOSE | re.ASCII,
)


def parse_path(text: str) -> Path:
    if not text.startswith("$") or text == "$":
        raise JsonPathError(f"{text!r} is no path: begin with $ and name a field, as in $.spec.replicas")
    position, steps = 1, []
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise JsonPathError(
                f"{text!r} cannot be read from {text[position:][:20]!r} on: "
                "write .name, ['name'], [0], [*] or [?(@.name=='value')]"
            )
        steps.append(_step(found))
        position = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step:
    if found["name"] or found["quoted"]:
        return Name(found["name"] or found["quoted"])
    if found["index"]:
        return Index(int(found["index"]))
    return Where(found["field"], found["value"]) if found["field"] else Every()


def find(document: Any, path: Path) -> list[Concrete]:
    """Every place in a document to which a path leads."""
    places: list[tuple[Concrete, Any]] = [((), document)]
    for step in path:
        places = [((*place, key), child) for place, value in places for key, child in _children(value, step)]
    return [place for place, _ in places]


def _children(value: Any, step: Step) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        if isinstance(step, Every):
            yield from value.items()
        elif isinstance(step, Name) and step.name in value:
            yield step.name, value[step.name]
    elif isinstance(value, list):
        yield from (
            (index, child) for index, child in enumerate(value) if _fits(index, child, step, len(value))
        )


def _fits(index: int, child: Any, step: Step, length: int) -> bool:
    if isinstance(step, Index):
        return index == (step.place if step.place >= 0 else length + step.place)
    if isinstance(step, Where):
        return isinstance(child, dict) and str(child.get(step.field)) == step.value
    return isinstance(step, Every)
