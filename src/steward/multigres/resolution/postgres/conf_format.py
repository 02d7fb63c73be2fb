"""The format of postgresql.conf. Pure."""

import re
from collections.abc import Mapping
from typing import Final

# `name = value`, where the equals sign is optional and a value in quotes may have a quote doubled or escaped.
_LINE: Final = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(?:=\s*|\s)\s*('(?:[^'\\]|''|\\.)*'|[^\s#'=][^\s#']*)")
_ESCAPED: Final = re.compile(r"''|\\([0-7]{1,3}|.)")
_CONTROL: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def format_settings(settings: Mapping[str, str | int]) -> str:
    """One line for each setting, by name; "" if there are none."""
    return "".join(f"{name} = {_quoted(str(value))}\n" for name, value in sorted(settings.items()))


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def parse_settings(text: str) -> dict[str, str]:
    """Settings and their values. As in Postgres names have no case, and the last line of a setting wins; lines that are
    no settings are left to Postgres, which rejects them."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if match := _LINE.match(line):
            found[match[1].lower()] = _unquoted(match[2])
    return found


def _unquoted(value: str) -> str:
    return _ESCAPED.sub(_unescaped, value[1:-1]) if value.startswith("'") else value


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped is None:
        return "'"
    if escaped.isdecimal() and escaped <= "777":
        return chr(int(escaped, 8) & 0xFF)
    return _CONTROL.get(escaped, escaped)
