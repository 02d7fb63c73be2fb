"""Versions: `semver` gives one with methods, `semverCompare` checks one against a constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError
from steward.gotemplate.funcs.registry import Table, methods
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.golang.semver import semver
from steward.gotemplate.golang.semver.semver import SemanticVersion, parse_version
from steward.gotemplate.values.values import ByteSlice, Uint64, go_type

table = Table()


class VersionValue:
    """semver.Version, what the Inc and Set methods give: only methods that need no pointer."""

    go_type = go_type("semver.Version", "struct")
    go_methods: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, version: SemanticVersion) -> None:
        self.version = version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VersionValue) and type(self) is type(other) and self.version == other.version

    def __hash__(self) -> int:
        return hash(self.version)

    def __str__(self) -> str:
        return str(self.version)

    def go_fields(self) -> Mapping[str, Any]:
        version = self.version
        return {
            "major": Uint64(version.major),
            "minor": Uint64(version.minor),
            "patch": Uint64(version.patch),
            "pre": version.prerelease,
            "metadata": version.metadata,
            "original": version.original,
        }

    def deep_fields(self) -> SemanticVersion:
        return self.version

    def marshal_json(self) -> str:
        return quote(str(self.version))

    def emptied_copy(self) -> Self:
        """What deepCopy makes of it: all its fields are unexported, and left out."""
        return type(self)(SemanticVersion(0, 0, 0))


class Version(VersionValue):
    """*semver.Version: two of them are never equal unless they are one."""

    go_type = go_type("*semver.Version", "ptr")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


@table.budgeted("semver(string) *semver.Version")
def make_version(budget: Budget, text: str) -> Version:
    budget.build(128 * len(text))
    budget.work(len(text))
    return Version(parse_version(text))


@table.budgeted("semverCompare(string, string) bool")
def semver_compare(budget: Budget, constraint: str, version: str) -> bool:
    from steward.gotemplate.golang.semver.constraint import check, parse_constraint

    budget.build(128 * len(version))
    budget.work(100 + 35 * len(constraint) + len(version))
    parsed = parse_constraint(constraint)
    return check(parsed, parse_version(version))


values = Table()
pointers = Table()


@values.function("String() string")
def string(this: VersionValue) -> str:
    return str(this.version)


@values.function("Major() uint64")
def major(this: VersionValue) -> Uint64:
    return Uint64(this.version.major)


@values.function("Minor() uint64")
def minor(this: VersionValue) -> Uint64:
    return Uint64(this.version.minor)


@values.function("Patch() uint64")
def patch(this: VersionValue) -> Uint64:
    return Uint64(this.version.patch)


@values.function("Prerelease() string")
def prerelease(this: VersionValue) -> str:
    return this.version.prerelease


@values.function("Metadata() string")
def metadata(this: VersionValue) -> str:
    return this.version.metadata


@values.function("IncMajor() semver.Version")
def inc_major(this: VersionValue) -> VersionValue:
    return VersionValue(semver.next_major(this.version))


@values.function("IncMinor() semver.Version")
def inc_minor(this: VersionValue) -> VersionValue:
    return VersionValue(semver.next_minor(this.version))


@values.function("IncPatch() semver.Version")
def inc_patch(this: VersionValue) -> VersionValue:
    return VersionValue(semver.next_patch(this.version))


@values.function("SetPrerelease(string) semver.Version")
def set_prerelease(this: VersionValue, text: str) -> VersionValue:
    if text:
        semver.check_prerelease(text)
    return VersionValue(this.version.renamed(prerelease=text))


@values.function("SetMetadata(string) semver.Version")
def set_metadata(this: VersionValue, text: str) -> VersionValue:
    if text:
        semver.check_metadata(text)
    return VersionValue(this.version.renamed(metadata=text))


@values.function("MarshalJSON() []uint8")
def marshal_json(this: VersionValue) -> ByteSlice:
    return ByteSlice(quote(str(this.version)).encode())


@values.function("MarshalText() []uint8")
def marshal_text(this: VersionValue) -> ByteSlice:
    return ByteSlice(str(this.version).encode())


@values.function("Value() any")
def value_of(this: VersionValue) -> str:
    return str(this.version)


@pointers.function("Original() string")
def original(this: Version) -> str:
    return this.version.original


@pointers.function("Compare(*semver.Version) int")
def compare(this: Version, other: Version | None) -> int:
    if other is None:
        raise GoError("runtime error: invalid memory address or nil pointer dereference")
    return semver.compare(this.version, other.version)


@pointers.function("Equal(*semver.Version) bool")
def equal(this: Version, other: Version | None) -> bool:
    return other is not None and compare(this, other) == 0


def _ordered(name: str, holds: Callable[[int], bool]) -> None:
    @pointers.function(f"{name}(*semver.Version) bool")
    def ordered(this: Version, other: Version | None) -> bool:
        return holds(compare(this, other))


_ordered("LessThan", lambda order: order < 0)
_ordered("LessThanEqual", lambda order: order <= 0)
_ordered("GreaterThan", lambda order: order > 0)
_ordered("GreaterThanEqual", lambda order: order >= 0)

VersionValue.go_methods = methods(values)
Version.go_methods = methods(Table(values, pointers))
