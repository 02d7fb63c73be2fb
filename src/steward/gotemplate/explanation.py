"""An error for people: the line with a caret, what there is, and what was probably meant."""

from __future__ import annotations

import re
from typing import Any, Final

from steward.gotemplate.errors import TemplateError
from steward.gotemplate.values.values import Value, from_bytes, to_bytes

_MISSING_KEY: Final = re.compile(
    r'at <(?P<node>[^>]*)>: (?:map has|nil data;) no entry for key "(?P<name>[^"]*)"'
)
_UNKNOWN_FUNCTION: Final = re.compile(r'function "(?P<name>[^"]*)" not defined')
_UNKNOWN_VARIABLE: Final = re.compile(r'undefined variable:? "?(?P<name>\$\w*)')
_SHOWN_VARIABLES: Final = 20


def explain(error: TemplateError, data: Value = None) -> str:
    """Several lines: the error in Go's words, its place in the source, and help."""
    return "\n".join([str(error), *_excerpt(error), *_help(error, data)])


def _excerpt(error: TemplateError) -> list[str]:
    lines = error.source.split("\n")
    if not 1 <= error.line <= len(lines):
        return []
    line = lines[error.line - 1].rstrip("\r")
    shown = [f"{error.line:>5} | {_printable(line)}"]
    column = error.column if error.column is not None else _column_of_function(error, line)
    if column is not None:
        before = from_bytes(to_bytes(line)[:column])
        blanks = "".join("\t" if char == "\t" else " " for char in before)
        shown.append(f"      | {blanks}^")
    return shown


def _printable(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def _column_of_function(error: TemplateError, line: str) -> int | None:
    """Parse errors have no column in Go; an unknown function's name can be found all the same."""
    found = _UNKNOWN_FUNCTION.search(error.text)
    place = re.search(rf"\b{re.escape(found['name'])}\b", line) if found else None
    return None if place is None else len(to_bytes(line[: place.start()]))


def _help(error: TemplateError, data: Value) -> list[str]:
    if found := _MISSING_KEY.search(error.text):
        known = _keys_beside(found["node"], found["name"], data)
        return [*_variables(data), *_did_you_mean(found["name"], known)]
    if found := _UNKNOWN_FUNCTION.search(error.text):
        from steward.gotemplate.funcs import function_set

        known = list(function_set("tenants"))
        return [] if found["name"] in known else _did_you_mean(found["name"], known)
    if found := _UNKNOWN_VARIABLE.search(error.text):
        declared = set(re.findall(r"\$\w+", error.source)) - {found["name"]}
        return _did_you_mean(found["name"], sorted(declared))
    return []


def _variables(data: Value) -> list[str]:
    if not isinstance(data, dict):
        return []
    names = sorted(map(str, data))
    more = "" if len(names) <= _SHOWN_VARIABLES else f" and {len(names) - _SHOWN_VARIABLES} more"
    return [f"variables: {', '.join(names[:_SHOWN_VARIABLES]) or 'none'}{more}"]


def _keys_beside(node: str, name: str, data: Value) -> list[str]:
    """The keys of the map in which a key was missed."""
    path = node.lstrip("$.").split(".")
    within: Any = data
    for step in path[: path.index(name)] if name in path else []:
        within = within.get(step) if isinstance(within, dict) else None
    return [str(key) for key in within] if isinstance(within, dict) else []


def _did_you_mean(name: str, known: list[str]) -> list[str]:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1) or _same_letters(name, known)
    return [f"did you mean {near[0]}?"] if near else []


def _same_letters(name: str, known: list[str]) -> list[str]:
    return [other for other in known if other.lower() == name.lower()][:1]
