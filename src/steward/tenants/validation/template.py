"""What a template may say: every error at once, with field, line, column and the cure, and advice on what is unwise.

Pure, and the same for the webhook and for reconcile: what got past the one is caught by the other. A variable is never
an error: which columns a row has is known only when it is there.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from steward.gotemplate import TemplateError, check, explain
from steward.tenants.api.lists import field_name, listed
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError
from steward.tenants.objects.dependencies import edges_of, find_cycle, repeated, unknown_dependencies
from steward.tenants.objects.ignore_fields import widened
from steward.tenants.objects.jsonpath import JsonPathError, parse_path
from steward.tenants.rendering.object_shape import check_object, is_too_deep
from steward.tenants.rendering.variables import BUILT_IN

MOST_TEXTS: Final = 5000
"""How many texts of a template may hold templates: each is parsed in the time of all others."""
MOST_PROBLEMS: Final = 100
"""Of texts. Whoever has more of them has made one mistake."""
_SHOWN_IDS: Final = 10


class Problem(NamedTuple):
    """`line` counts from 1, `column` counts bytes from 0; both are None where the field is no template."""

    field: str
    message: str
    line: int | None = None
    column: int | None = None


class Place(NamedTuple):
    """A resource, and the field at which it stands."""

    field: str
    resource: TResource
    kind: str
    """The kind that its list is meant for; any when empty."""


class TemplateText(NamedTuple):
    field: str
    source: str
    sees_row: bool = True
    """readyWhen sees the living object instead."""


def places(spec: TenantTemplateSpec) -> list[Place]:
    return [
        Place(f"spec.{where.field}[{resource.id}]", resource, where.kind.kind if where.kind else "")
        for where, resource in listed(spec)
    ]


def validate_template(spec: TenantTemplateSpec, profile: str = "hermetic") -> list[Problem]:
    """Everything that keeps a template from being used."""
    found = places(spec)
    walkable = [place for place in found if not is_too_deep(place.resource.spec)]
    return [*_graph(found), *_objects(found), *_ignored(found), *_texts(walkable, profile)]


def _graph(found: list[Place]) -> Iterator[Problem]:
    twice = set(repeated(place.resource.id for place in found))
    for place in found:
        if place.resource.id in twice:
            yield Problem(
                f"{place.field}.id",
                f"{place.resource.id!r} is the id of several resources; give each its own",
            )
    edges = edges_of(place.resource for place in found)
    fields = {place.resource.id: place.field for place in found}
    known = ", ".join(list(edges)[:_SHOWN_IDS])
    for dependent, dependency in unknown_dependencies(edges):
        told = f"{dependent!r} depends on {dependency!r}, which is not in the template; there are: {known}"
        yield Problem(f"{fields[dependent]}.dependIds", told)
    if cycle := find_cycle(edges):
        told = f"Dependency cycle detected: {' -> '.join(cycle)}; take one of these dependencies out"
        yield Problem(f"{fields[cycle[0]]}.dependIds", told)


def _objects(found: Iterable[Place]) -> Iterator[Problem]:
    for place in found:
        try:
            check_object(place.resource.spec)
        except RenderError as error:
            yield Problem(f"{place.field}.{error.field}", error.text)


def _ignored(found: Iterable[Place]) -> Iterator[Problem]:
    for place in found:
        paths = [] if place.resource.ignore_fields is UNSET else place.resource.ignore_fields
        for index, path in enumerate(paths):
            try:
                parse_path(path)
            except JsonPathError as error:
                yield Problem(f"{place.field}.ignoreFields[{index}]", str(error))


def _texts(found: Iterable[Place], profile: str) -> Iterator[Problem]:
    texts = [text for place in found for text in template_texts(place)]
    if len(texts) > MOST_TEXTS:
        told = f"holds {len(texts)} texts with templates, and may hold {MOST_TEXTS}: make several templates of it"
        yield Problem("spec", told)
    else:
        yield from islice((problem for text in texts for problem in _unparsed(text, profile)), MOST_PROBLEMS)


def _unparsed(text: TemplateText, profile: str) -> Iterator[Problem]:
    report = check(text.source, text.field, functions="tenants", profile=profile, missingkey="defaulted")
    for problem in report.problems:
        told = _explained(problem.text, problem.line, problem.column, text.source)
        yield Problem(text.field, told, problem.line, problem.column)


def _explained(text: str, line: int, column: int | None, source: str) -> str:
    """With the line, a caret, and what was probably meant."""
    error = TemplateError(text, line, column)
    error.source = source
    return explain(error)


def template_texts(place: Place) -> Iterator[TemplateText]:
    """Every text of a resource that holds a template."""
    resource = place.resource
    for name in (
        "name_template",
        "target_namespace",
        "labels_template",
        "annotations_template",
        "when",
        "spec",
    ):
        for field, source in _strings(getattr(resource, name), f"{place.field}.{field_name(name)}"):
            yield TemplateText(field, source)
    for field, source in _strings(resource.ready_when, f"{place.field}.readyWhen"):
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
    """What is allowed and probably not meant. `mapped` are the registry's extra variables, None while it is unknown."""
    found = places(spec)
    known = None if mapped is None else {*BUILT_IN, *mapped}
    return [*_misplaced(found), *_widened(found), *_doubtful(found, known, profile)]


def _misplaced(found: Iterable[Place]) -> Iterator[Problem]:
    for place in found:
        kind = place.resource.spec.get("kind")
        if place.kind and isinstance(kind, str) and "{{" not in kind and kind != place.kind:
            yield Problem(
                f"{place.field}.spec.kind", f"is a {kind} in a list of {place.kind}s; use manifests"
            )


def _widened(found: Iterable[Place]) -> Iterator[Problem]:
    for place in found:
        paths = [] if place.resource.ignore_fields is UNSET else place.resource.ignore_fields
        for index, path in enumerate(paths):
            # A path that cannot be read, and an object without a kind, are errors and told elsewhere.
            with suppress(JsonPathError, KeyError):
                told = f"{path} leads into a list without keys, which is ignored as a whole: "
                for name in widened(place.resource.spec, path):
                    yield Problem(f"{place.field}.ignoreFields[{index}]", told + name)


def _doubtful(found: Iterable[Place], known: set[str] | None, profile: str) -> Iterator[Problem]:
    for place in found:
        for text in template_texts(place):
            report = check(
                text.source, text.field, functions="tenants", profile=profile, missingkey="defaulted"
            )
            for use in report.non_repeatable:
                told = f"{use.name} gives another result at every sync, and the object is then written every time"
                yield Problem(text.field, told, use.line, use.column)
            for use in report.variables if known is not None and text.sees_row else ():
                if known is not None and use.name.split(".")[0] not in known:
                    told = f".{use.name} is no column of the registry: add it to extraValueMappings"
                    yield Problem(text.field, told, use.line, use.column)
