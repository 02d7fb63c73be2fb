"""JSONPaths of `ignoreFields`: names, indexes, wildcards, and list items selected by the value of a field. Pure.

Each match is a separate path: two containers keep two values. A path without a match is no error.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple


class JsonPathError(ValueError):
    """An invalid path; the message shows the valid forms."""


class NameStep(NamedTuple):
    name: str


class IndexStep(NamedTuple):
    position: int


class WildcardStep(NamedTuple):
    """All entries of a list, or all values of a map."""


class FilterStep(NamedTuple):
    """Entries of a list whose field has a value."""

    field: str
    value: str


PathStep = NameStep | IndexStep | WildcardStep | FilterStep
JsonPath = tuple[PathStep, ...]
FieldPath = tuple[str | int, ...]
"""The path of one field in one object."""

_STEP: Final = re.compile(
    r"""\.(?P<name>[A-Za-z_][\w-]*)
      | (?P<every>\.\*|\[\*\])
      | \[(?P<index>-?\d+)\]
      | \[(?P<quote>['"])(?P<quoted>[^'"]+)(?P=quote)\]
      | \[\?\(?\s*@\.(?P<field>[\w-]+)\s*==\s*(?P<mark>['"])(?P<value>[^'"]*)(?P=mark)\s*\)?\]
    """,
    re.VERBOSE | re.ASCII,
)


def parse_path(text: str) -> JsonPath:
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


def _step(found: re.Match[str]) -> PathStep:
    if found["name"] or found["quoted"]:
        return NameStep(found["name"] or found["quoted"])
    if found["index"]:
        return IndexStep(int(found["index"]))
    return FilterStep(found["field"], found["value"]) if found["field"] else WildcardStep()


def matching_paths(document: Any, path: JsonPath) -> list[FieldPath]:
    """The path of every field in a document that a JSONPath matches."""
    matches: list[tuple[FieldPath, Any]] = [((), document)]
    for step in path:
        matches = [
            ((*parent, key), child) for parent, value in matches for key, child in _children(value, step)
        ]
    return [found for found, _ in matches]


def _children(value: Any, step: PathStep) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        if isinstance(step, WildcardStep):
            yield from value.items()
        elif isinstance(step, NameStep) and step.name in value:
            yield step.name, value[step.name]
    elif isinstance(value, list):
        yield from (
            (index, child) for index, child in enumerate(value) if _matches(index, child, step, len(value))
        )


def _matches(index: int, child: Any, step: PathStep, length: int) -> bool:
    if isinstance(step, IndexStep):
        return index == (step.position if step.position >= 0 else length + step.position)
    if isinstance(step, FilterStep):
        return isinstance(child, dict) and str(child.get(step.field)) == step.value
    return isinstance(step, WildcardStep)
