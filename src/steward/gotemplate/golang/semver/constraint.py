"""Masterminds/semver 3.3: constraints such as `^1.2`, `~1 || >=2.0, <3`, `1.0 - 2.0`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.regexp.regexp import Regexp, compile_regexp
from steward.gotemplate.golang.semver.semver import (
    SemanticVersion,
    compare,
    compare_prereleases,
    parse_version,
)

_TAILS = r"(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?"
_PATTERN = r"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?" + _TAILS
# The order matters: of two operators that match, the first one named wins.
_OPERATORS = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^"
_WILD = ("x", "X", "*")


@dataclass(frozen=True, slots=True)
class Constraint:
    """One comparison. What was a wildcard or left out is marked, since it widens the comparison."""

    operator: str
    version: SemanticVersion
    open_minor: bool
    open_patch: bool
    is_open: bool


@lru_cache(maxsize=4)
def _regexp(name: str) -> Regexp:
    one = rf"({_OPERATORS})\s*({_PATTERN})"
    return compile_regexp(
        {
            "one": rf"^\s*{one}\s*$",
            "range": rf"\s*({_PATTERN})\s+-\s+({_PATTERN})\s*",
            "find": one,
            "valid": rf"^(\s*{one}\s*)((?:\s+|,\s*){one}\s*)*$",
        }[name]
    )


def parse_constraint(text: str) -> list[list[Constraint]]:
    """Alternatives (`||`), each a list that must hold together."""
    return [_parse_all(part) for part in _without_ranges(text).split("||")]


def check(constraint: list[list[Constraint]], version: SemanticVersion) -> bool:
    return any(all(_OPERATIONS[one.operator](version, one) for one in together) for together in constraint)


def _parse_all(text: str) -> list[Constraint]:
    if not _regexp("valid").matches(text):
        raise GoError(f"improper constraint: {text}")
    return [_parse_one(found) for found in _regexp("find").find_all(text, -1) or [text]]


def _without_ranges(text: str) -> str:
    """`1.0 - 2.0` is written out as two comparisons."""
    out = text
    for groups in _regexp("range").find_all_groups(text):
        out = out.replace(groups[0] or "", f">= {groups[1]}, <= {groups[11]} ", 1)
    return out


def _parse_one(text: str) -> Constraint:
    groups = _regexp("one").find_groups(text)
    if groups is None:
        raise GoError(f"improper constraint: {text}")
    operator, whole, major, minor, patch, tail = ((group or "") for group in groups[1:7])
    shape = _shape(major, minor.removeprefix("."), patch.removeprefix("."))
    written = (f"0.0.0{tail}", f"{major}.0.0{tail}", f"{major}{minor}.0{tail}", whole)[shape]
    try:
        version = parse_version(written)
    except GoError:
        raise GoError("constraint Parser Error") from None
    return Constraint(operator, version, shape == 1, shape == 2, shape < 3)


def _shape(major: str, minor: str, patch: str) -> int:
    """How many leading parts are given before the first wildcard."""
    for place, part in enumerate((major, minor, patch)):
        if not part or part in _WILD:
            return place
    return 3


def _admits(version: SemanticVersion, one: Constraint) -> bool:
    # A prerelease satisfies only constraints that name one.
    return not version.prerelease or bool(one.version.prerelease)


def _not_equal(version: SemanticVersion, one: Constraint) -> bool:
    if not one.is_open:
        return compare(version, one.version) != 0
    if not _admits(version, one):
        return False
    if one.version.major != version.major:
        return True
    if one.open_minor:
        return False
    if one.version.minor != version.minor:
        return True
    if one.open_patch:
        return compare_prereleases(version.prerelease, one.version.prerelease) != 0
    return compare(version, one.version) != 0 or one.version.patch != version.patch


def _greater(version: SemanticVersion, one: Constraint) -> bool:
    if not _admits(version, one):
        return False
    if not one.is_open:
        return compare(version, one.version) == 1
    if version.major != one.version.major:
        return version.major > one.version.major
    if one.open_minor:
        return False
    if one.open_patch:
        return version.minor > one.version.minor
    return compare(version, one.version) == 1


def _less(version: SemanticVersion, one: Constraint) -> bool:
    return _admits(version, one) and compare(version, one.version) < 0


def _greater_or_equal(version: SemanticVersion, one: Constraint) -> bool:
    return _admits(version, one) and compare(version, one.version) >= 0


def _less_or_equal(version: SemanticVersion, one: Constraint) -> bool:
    if not _admits(version, one):
        return False
    if not one.is_open:
        return compare(version, one.version) <= 0
    if version.major != one.version.major:
        return version.major < one.version.major
    return one.open_minor or version.minor <= one.version.minor


def _tilde(version: SemanticVersion, one: Constraint) -> bool:
    if not _greater_or_equal(version, one):
        return False
    floor = one.version
    if not (floor.major or floor.minor or floor.patch or one.open_minor or one.open_patch):
        return True
    return version.major == floor.major and (one.open_minor or version.minor == floor.minor)


def _equal(version: SemanticVersion, one: Constraint) -> bool:
    if one.is_open:
        return _tilde(version, one)
    return _admits(version, one) and compare(version, one.version) == 0


def _caret(version: SemanticVersion, one: Constraint) -> bool:
    if not _greater_or_equal(version, one):
        return False
    floor = one.version
    if floor.major or one.open_minor:
        return version.major == floor.major
    if version.major:
        return False
    if floor.minor or one.open_patch:
        return version.minor == floor.minor
    return not version.minor and version.patch == floor.patch


_OPERATIONS: dict[str, Callable[[SemanticVersion, Constraint], bool]] = {
    "": _equal,
    "=": _equal,
    "!=": _not_equal,
    ">": _greater,
    "<": _less,
    ">=": _greater_or_equal,
    "=>": _greater_or_equal,
    "<=": _less_or_equal,
    "=<": _less_or_equal,
    "~": _tilde,
    "~>": _tilde,
    "^": _caret,
}
