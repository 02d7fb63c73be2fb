"""Validates templates: reports all problems at once, with field, line, column and cure, and advice. Pure.

Webhook and controller share it: whatever passes one of them is found by the other. An unknown variable is never a
problem: the columns of a row are known only when it is read.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from steward.gotemplate import TemplateError, check, explain
from steward.tenants.api.lists import field_name, list_resources
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError
from steward.tenants.objects.dependencies import (
    dependency_edges,
    duplicate_ids,
    find_cycle,
    unknown_dependencies,
)
from steward.tenants.objects.ignore_fields import widened_lists
from steward.tenants.objects.jsonpath import JsonPathError, parse_path
from steward.tenants.rendering.object_shape import check_object, is_too_deep
from steward.tenants.rendering.variables import BUILT_IN

MAX_TEXTS: Final = 5000
"""How many texts of a template may contain templates: parsing them blocks the process."""
MAX_PROBLEMS: Final = 100
"""How many problems of texts are reported: more of them have one cause."""
_SHOWN_IDS: Final = 10


class Problem(NamedTuple):
    """`line` counts from 1, `column` counts bytes from 0; both are None where the field is no template."""

    field: str
    message: str
    line: int | None = None
    column: int | None = None


class ResourcePosition(NamedTuple):
    """A resource, and its field in the manifest."""

    field: str
    resource: TResource
    kind: str
    """The kind that its list is meant for; empty for any kind."""


class TemplateText(NamedTuple):
    field: str
    source: str
    sees_row: bool = True
    """False for readyWhen, which reads the live object."""


def resource_positions(spec: TenantTemplateSpec) -> list[ResourcePosition]:
    return [
        ResourcePosition(
            f"spec.{where.field}[{resource.id}]", resource, where.kind.kind if where.kind else ""
        )
        for where, resource in list_resources(spec)
    ]


def validate_template(spec: TenantTemplateSpec, profile: str = "hermetic") -> list[Problem]:
    """All problems that make a template invalid."""
    found = resource_positions(spec)
    walkable = [position for position in found if not is_too_deep(position.resource.spec)]
    return [
        *_dependency_problems(found),
        *_object_problems(found),
        *_ignore_fields_problems(found),
        *_template_problems(walkable, profile),
    ]


def _dependency_problems(found: list[ResourcePosition]) -> Iterator[Problem]:
    twice = set(duplicate_ids(position.resource.id for position in found))
    for position in found:
        if position.resource.id in twice:
            yield Problem(
                f"{position.field}.id",
                f"{position.resource.id!r} is the id of several resources; give each its own",
            )
    edges = dependency_edges(position.resource for position in found)
    fields = {position.resource.id: position.field for position in found}
    known = ", ".join(list(edges)[:_SHOWN_IDS])
    for dependent, dependency in unknown_dependencies(edges):
        message = f"{dependent!r} depends on {dependency!r}, which is not in the template; there are: {known}"
        yield Problem(f"{fields[dependent]}.dependIds", message)
    if cycle := find_cycle(edges):
        message = f"Dependency cycle detected: {' -> '.join(cycle)}; take one of these dependencies out"
        yield Problem(f"{fields[cycle[0]]}.dependIds", message)


def _object_problems(found: Iterable[ResourcePosition]) -> Iterator[Problem]:
    for position in found:
        try:
            check_object(position.resource.spec)
        except RenderError as error:
            yield Problem(f"{position.field}.{error.field}", error.text)


def _ignore_fields_problems(found: Iterable[ResourcePosition]) -> Iterator[Problem]:
    for position in found:
        paths = [] if position.resource.ignore_fields is UNSET else position.resource.ignore_fields
        for index, path in enumerate(paths):
            try:
                parse_path(path)
            except JsonPathError as error:
                yield Problem(f"{position.field}.ignoreFields[{index}]", str(error))


def _template_problems(found: Iterable[ResourcePosition], profile: str) -> Iterator[Problem]:
    texts = [text for position in found for text in template_texts(position)]
    if len(texts) > MAX_TEXTS:
        message = (
            f"holds {len(texts)} texts with templates, and may hold {MAX_TEXTS}: make several templates of it"
        )
        yield Problem("spec", message)
    else:
        yield from islice(
            (problem for text in texts for problem in _parse_problems(text, profile)), MAX_PROBLEMS
        )


def _parse_problems(text: TemplateText, profile: str) -> Iterator[Problem]:
    report = check(text.source, text.field, functions="tenants", profile=profile, missingkey="defaulted")
    for problem in report.problems:
        message = _explained(problem.text, problem.line, problem.column, text.source)
        yield Problem(text.field, message, problem.line, problem.column)


def _explained(text: str, line: int, column: int | None, source: str) -> str:
    """The message with the line, a caret, and a suggestion."""
    error = TemplateError(text, line, column)
    error.source = source
    return explain(error)


def template_texts(position: ResourcePosition) -> Iterator[TemplateText]:
    """Every text of a resource that contains a template."""
    resource = position.resource
    for name in (
        "name_template",
        "target_namespace",
        "labels_template",
        "annotations_template",
        "when",
        "spec",
    ):
        for field, source in _strings(getattr(resource, name), f"{position.field}.{field_name(name)}"):
            yield TemplateText(field, source)
    for field, source in _strings(resource.ready_when, f"{position.field}.readyWhen"):
        yield TemplateText(field, source, sees_row=False)


def _strings(value: Any, field: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if "{{" in value:
            yield field, value
    elif isinstance(value, dict):
        for name, child in value.items():
            yield from _strings(child, f"{field}.{name}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _strings(child, f"{field}[{index}]")


def advise_template(
    spec: TenantTemplateSpec, mapped: Iterable[str] | None = None, profile: str = "hermetic"
) -> list[Problem]:
    """Valid but probably unintended content. `mapped`: the extra variables of the registry; None if it is unknown."""
    found = resource_positions(spec)
    known = None if mapped is None else {*BUILT_IN, *mapped}
    return [
        *_wrong_list_advice(found),
        *_widened_list_advice(found),
        *_template_advice(found, known, profile),
    ]


def _wrong_list_advice(found: Iterable[ResourcePosition]) -> Iterator[Problem]:
    for position in found:
        kind = position.resource.spec.get("kind")
        if position.kind and isinstance(kind, str) and "{{" not in kind and kind != position.kind:
            yield Problem(
                f"{position.field}.spec.kind", f"is a {kind} in a list of {position.kind}s; use manifests"
            )


def _widened_list_advice(found: Iterable[ResourcePosition]) -> Iterator[Problem]:
    for position in found:
        paths = [] if position.resource.ignore_fields is UNSET else position.resource.ignore_fields
        for index, path in enumerate(paths):
            # An invalid path and an object without a kind are problems that validate_template reports.
            with suppress(JsonPathError, KeyError):
                message = f"{path} matches inside a list without keys, which is ignored as a whole: "
                for name in widened_lists(position.resource.spec, path):
                    yield Problem(f"{position.field}.ignoreFields[{index}]", message + name)


def _template_advice(
    found: Iterable[ResourcePosition], known: set[str] | None, profile: str
) -> Iterator[Problem]:
    for position in found:
        for text in template_texts(position):
            report = check(
                text.source, text.field, functions="tenants", profile=profile, missingkey="defaulted"
            )
            for use in report.non_repeatable:
                message = f"{use.name} gives another result at every sync, and the object is then written every time"
                yield Problem(text.field, message, use.line, use.column)
            for use in report.variables if known is not None and text.sees_row else ():
                if known is not None and use.name.split(".")[0] not in known:
                    message = f".{use.name} is no column of the registry: add it to extraValueMappings"
                    yield Problem(text.field, message, use.line, use.column)
