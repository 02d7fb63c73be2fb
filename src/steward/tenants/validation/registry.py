"""Validates registries: reports all problems at once, with field and cure, beyond what the schema checks. Pure."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from steward.kube.objects.durations import parse_interval
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.scalars import UNSET
from steward.tenants.errors import BadSource
from steward.tenants.rendering.variables import BUILT_IN
from steward.tenants.sources.identifiers import MYSQL, POSTGRES, SQLITE, check_identifier
from steward.tenants.sources.rows import row_conditions
from steward.tenants.validation.problems import Problem
from steward.tenants.views import Registry

_DIALECTS: Final = {"mysql": MYSQL, "postgres": POSTGRES, "sqlite": SQLITE}
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def validate_registry(spec: TenantRegistrySpec) -> list[Problem]:
    """All problems that make a registry invalid."""
    return [
        *_source_problems(spec),
        *_column_problems(spec),
        *_condition_problems(spec),
        *_interval_problems(spec),
    ]


def _source_problems(spec: TenantRegistrySpec) -> Iterator[Problem]:
    kind = spec.source.type
    block = spec.source.block
    if block is UNSET:
        yield Problem(f"spec.source.{kind}", f"is missing: source.type is {kind}, say where the table is")
        return
    for name in ("host", "username", "database", "file"):
        if getattr(block, name, "-").strip() == "":
            yield Problem(f"spec.source.{kind}.{name}", "is empty: fill it in")
    try:
        _DIALECTS[kind].table(block.table)
    except BadSource as error:
        yield Problem(f"spec.source.{kind}.table", str(error))


def _column_problems(spec: TenantRegistrySpec) -> Iterator[Problem]:
    mapped = spec.value_mappings
    columns = {
        "valueMappings.uid": mapped.uid,
        "valueMappings.hostOrUrl": mapped.host_or_url,
        "valueMappings.activate": mapped.activate,
    }
    extra = {} if spec.extra_value_mappings is UNSET else spec.extra_value_mappings
    for field, column in {**columns, **{f"extraValueMappings.{name}": extra[name] for name in extra}}.items():
        try:
            check_identifier(column, "column")
        except BadSource as error:
            yield Problem(f"spec.{field}", str(error))


def _condition_problems(spec: TenantRegistrySpec) -> Iterator[Problem]:
    for index, condition in enumerate(row_conditions(spec)):
        field = f"spec.source.where[{index}]"
        try:
            check_identifier(condition.column, "column")
        except BadSource as error:
            yield Problem(f"{field}.column", str(error))
        for position, value in enumerate(condition.values):
            if "\0" in value or not _is_utf8(value):
                yield Problem(f"{field}.values[{position}]", "holds a character that no text has: correct it")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _interval_problems(spec: TenantRegistrySpec) -> Iterator[Problem]:
    fields = {"source.syncInterval": spec.source.sync_interval}
    if spec.deletion_guard is not UNSET:
        fields["deletionGuard.gracePeriod"] = spec.deletion_guard.grace_period
    for field, interval in fields.items():
        try:
            parse_interval(interval)
        except ValueError as error:
            yield Problem(f"spec.{field}", str(error))


def advise_registry(spec: TenantRegistrySpec) -> list[Problem]:
    """Valid but probably unintended content."""
    extra = {} if spec.extra_value_mappings is UNSET else spec.extra_value_mappings
    return [problem for name in extra for problem in _variable_advice(name)]


def _variable_advice(name: str) -> Iterator[Problem]:
    field = f"spec.extraValueMappings.{name}"
    if not _VARIABLE.fullmatch(name):
        yield Problem(field, f'is no word: templates reach it only as {{{{ index . "{name}" }}}}')
    if name in BUILT_IN:
        yield Problem(field, f"takes the place of the built-in variable .{name}")


def parse_registry(registry: Registry) -> tuple[TenantRegistrySpec | None, tuple[Problem, ...]]:
    """The decoded spec, or its problems."""
    try:
        spec = msgspec.convert(registry.spec, TenantRegistrySpec)
    except msgspec.ValidationError as error:
        return None, (Problem("spec", str(error)),)
    problems = tuple(validate_registry(spec))
    return (None, problems) if problems else (spec, ())
