"""Masterminds/semver 3.3: a version, lenient in what it reads, and its order."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.strconv import MAX_UINT64, parse_uint

_VERSION = re.compile(
    r"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?"
    r"(?:-([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?"
    r"(?:\+([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?\Z"
)
_IDENTIFIER = re.compile(r"[0-9A-Za-z\-]*\Z")


@dataclass(frozen=True, slots=True)
class SemanticVersion:
    """Three numbers and two tails; `original` is the text it came from."""

    major: int
    minor: int
    patch: int
    prerelease: str = ""
    metadata: str = ""
    original: str = ""

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += f"-{self.prerelease}"
        return f"{text}+{self.metadata}" if self.metadata else text

    def renamed(self, **changes: str | int) -> SemanticVersion:
        """With these parts changed; the new original keeps a leading v."""
        changed = replace(self, **changes)  # type: ignore[arg-type]
        prefix = "v" if self.original.startswith("v") else ""
        return replace(changed, original=prefix + str(changed))


def parse_version(text: str) -> SemanticVersion:
    """Reads `1`, `v1.2`, `1.2.3-rc.1+build`."""
    found = _VERSION.match(text)
    if found is None:
        raise GoError("Invalid Semantic Version")
    major, minor, patch, prerelease, metadata = found.groups(default="")
    made = SemanticVersion(_segment(major), _segment(minor), _segment(patch), prerelease, metadata, text)
    if prerelease:
        check_prerelease(prerelease)
    return made


def _segment(digits: str) -> int:
    try:
        return parse_uint(digits, 10) if digits else 0
    except GoError as error:
        raise GoError(f"Error parsing version segment: {error.text}") from None


def check_prerelease(text: str) -> None:
    """Refuses identifiers that start with 0, or hold what no identifier may."""
    for part in text.split("."):
        if part.isascii() and part.isdigit():
            if len(part) > 1 and part[0] == "0":
                raise GoError("Version segment starts with 0")
        elif not _IDENTIFIER.match(part):
            raise GoError("Invalid Prerelease string")


def check_metadata(text: str) -> None:
    if not all(_IDENTIFIER.match(part) for part in text.split(".")):
        raise GoError("Invalid Metadata string")


def compare(left: SemanticVersion, right: SemanticVersion) -> int:
    """-1, 0 or 1; metadata does not count."""
    ours = (left.major, left.minor, left.patch)
    theirs = (right.major, right.minor, right.patch)
    if ours != theirs:
        return 1 if ours > theirs else -1
    if left.prerelease == right.prerelease:
        return 0
    if not left.prerelease or not right.prerelease:
        return -1 if left.prerelease else 1
    return compare_prereleases(left.prerelease, right.prerelease)


def compare_prereleases(left: str, right: str) -> int:
    for ours, theirs in zip_longest(left.split("."), right.split("."), fillvalue=""):
        order = _compare_identifiers(ours, theirs)
        if order:
            return order
    return 0


def _compare_identifiers(left: str, right: str) -> int:
    if left == right:
        return 0
    if not left or not right:
        return 1 if left else -1
    our_number, their_number = _number(left), _number(right)
    if our_number is None and their_number is None:
        return 1 if left > right else -1
    if our_number is None or their_number is None:
        return 1 if our_number is None else -1
    return 1 if our_number > their_number else -1


def _number(text: str) -> int | None:
    if not text.isdigit():
        return None
    number = int(text) if len(text) <= 20 else MAX_UINT64 + 1
    return number if number <= MAX_UINT64 else None


def next_patch(version: SemanticVersion) -> SemanticVersion:
    patch = version.patch if version.prerelease else (version.patch + 1) & MAX_UINT64
    return version.renamed(patch=patch, prerelease="", metadata="")


def next_minor(version: SemanticVersion) -> SemanticVersion:
    return version.renamed(minor=(version.minor + 1) & MAX_UINT64, patch=0, prerelease="", metadata="")


def next_major(version: SemanticVersion) -> SemanticVersion:
    return version.renamed(
        major=(version.major + 1) & MAX_UINT64, minor=0, patch=0, prerelease="", metadata=""
    )
