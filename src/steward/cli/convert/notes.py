"""What a translation could not keep, and what it kept with another meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

Part = dict[str, Any]
"""A part of a manifest. Translations change it in place: it is a copy of what was read."""

LOST: Final = "lost"
CHECK: Final = "check"


class Note(NamedTuple):
    """`effect` is LOST if the result does not say what the field said, CHECK if the user should look at the result."""

    effect: str
    field: str
    message: str


class Notes:
    """Collects the notes of one object."""

    def __init__(self) -> None:
        self.found: list[Note] = []

    def lost(self, field: str, message: str) -> None:
        self.found.append(Note(LOST, field, message))

    def check(self, field: str, message: str) -> None:
        self.found.append(Note(CHECK, field, message))

    def rename(self, part: Part, old: str, new: str, field: str) -> None:
        """Moves a field to its new name; a field of the new name that exists already wins."""
        if old not in part:
            return
        value = part.pop(old)
        if new in part:
            self.lost(f"{field}.{old}", f"{new} is set as well, and is kept")
        else:
            part[new] = value


class Converted(NamedTuple):
    """The objects that one object became, and the notes about it."""

    manifests: tuple[Part, ...]
    notes: tuple[Note, ...] = ()


def parts_of(value: Any) -> Part:
    """The value if it is a map, else an empty one: malformed input is left for the validation of the result."""
    return value if isinstance(value, dict) else {}


def entries_of(value: Any) -> Iterable[Part]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
