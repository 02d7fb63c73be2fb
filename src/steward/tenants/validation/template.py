"""Validates templates: reports all problems at once, with field, line, column and cure, and advice. Pure.

Webhook and controller share it: whatever passes one of them is found by the other. For them an unknown variable is
never a problem: its registry may be edited next. `steward lint`, which sees both files, uses `unknown_variables`.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, NamedTuple

from steward.gotemplate import Report, TemplateError, check, explain
from steward.tenants.api.lists import field_name
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
from steward.tenants.rendering.object_template import profile_cure
from steward.tenants.rendering.variables import BUILT_IN
from steward.tenants.rendering.when import constant_problem
from steward.tenants.validation.for_each import for_each_problems, item_variables
from steward.tenants.validation.generated_values import generate_problems
from steward.tenants.validation.problems import Problem, ResourcePosition, resource_positions
from steward.tenants.validation.required_fields import required_field_problems

MAX_RESOURCES: Final = 500
"""How many resources a template may have: the status of a Tenant records each, and has to fit into the Tenant."""
MAX_TEXTS: Final = 5000
"""How many texts of a template may contain templates: parsing them blocks the process."""
MAX_PROBLEMS: Final = 100
"""How many problems of texts are reported: more of them have one cause."""
_SHOWN_IDS: Final = 10
_SIMILARITY: Final = 0.85
"""How similar a misspelt kind is at least: ReplicaSet is no misspelt StatefulSet."""


class TemplateText(NamedTuple):
    field: str
    source: str
    sees_row: bool = True
    """False for readyWhen, which reads the live object."""


def validate_template(spec: TenantTemplateSpec, profile: str = "hermetic") -> list[Problem]:
    """All problems that make a template invalid."""
    found = resource_positions(spec)
    walkable = [position for position in found if not is_too_deep(position.resource.spec)]
    return [
        *_count_problems(found),
        *_dependency_problems(found),
        *_object_problems(found),
        *required_field_problems(found),
        *_ignore_fields_problems(found),
        *_when_problems(found),
        *for_each_problems(found),
        *generate_problems(found),
        *_template_problems(walkable, profile),
    ]


def _count_problems(found: list[ResourcePosition]) -> Iterator[Problem]:
    if len(found) > MAX_RESOURCES:
        message = f"has {len(found)} resources, and may have {MAX_RESOURCES}: make several templates of it"
        yield Problem("spec", message)


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


def _when_problems(found: Iterable[ResourcePosition]) -> Iterator[Problem]:
    for position in found:
        when = position.resource.when
        if when is not UNSET and (problem := constant_problem(when)):
            yield Problem(f"{position.field}.when", problem)


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
    for problem in _report(text, profile).problems:
        message = _explained(problem.text, problem.line, problem.column, text.source)
        yield Problem(text.field, message, problem.line, problem.column)


def _explained(text: str, line: int, column: int | None, source: str) -> str:
    """The message with the line, a caret, and a suggestion."""
    error = TemplateError(text, line, column)
    error.source = source
    return explain(error) + profile_cure(text)


def template_texts(position: ResourcePosition) -> Iterator[TemplateText]:
    """Every text of a resource that contains a template."""
    resource = position.resource
    for name in (
        "name_template",
        "target_namespace",
        "labels_template",
        "annotations_template",
        "when",
        "for_each",
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
            cure = f"did you mean {position.kind}?" if _is_similar(kind, position.kind) else "use manifests"
            yield Problem(
                f"{position.field}.spec.kind", f"is {kind}, and this list is for kind {position.kind}: {cure}"
            )


def _is_similar(kind: str, expected: str) -> bool:
    return bool(get_close_matches(kind.lower(), [expected.lower()], 1, _SIMILARITY))


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
            report = _report(text, profile)
            for use in () if position.resource.creation_policy == "Once" else report.non_repeatable:
                message = (
                    f"{use.name} gives another result at every sync, and the object is then written every time; "
                    "creationPolicy: Once keeps the first"
                )
                yield Problem(text.field, message, use.line, use.column)
            for use in report.variables if known is not None and text.sees_row else ():
                if known is not None and not _is_known(use.name, known, text, position):
                    yield Problem(
                        text.field, _unknown_variable_message(use.name, known), use.line, use.column
                    )


def unknown_variables(
    spec: TenantTemplateSpec, mapped: Iterable[str], profile: str = "hermetic"
) -> list[Problem]:
    """Uses of variables that the registry does not have, and without which the template cannot be rendered."""
    known = {*BUILT_IN, *mapped}
    return [
        Problem(text.field, _unknown_variable_message(use.name, known), use.line, use.column)
        for position in resource_positions(spec)
        for text in template_texts(position)
        if text.sees_row
        for use in _report(text, profile).required
        if not _is_known(use.name, known, text, position)
    ]


def _is_known(variable: str, known: set[str], text: TemplateText, position: ResourcePosition) -> bool:
    return variable.split(".", maxsplit=1)[0] in known | item_variables(text.field, position)


def _unknown_variable_message(name: str, known: Iterable[str]) -> str:
    similar = get_close_matches(name.split(".", maxsplit=1)[0], sorted(known), 1)
    cure = f"did you mean .{similar[0]}?" if similar else "add it to extraValueMappings"
    return f".{name} is no column of the registry: {cure}"


def _report(text: TemplateText, profile: str) -> Report:
    return check(text.source, text.field, functions="tenants", profile=profile, missingkey="defaulted")
