"""Selects the template of a component: the one that it names, that of `templateDefaults`, or the one named `default`.
Pure."""

from typing import Any, NamedTuple

from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults as constants
from steward.multigres.resolution.resolved import KnownTemplates, SpecProblem


class SelectedTemplate(NamedTuple):
    """`name` is "" if only constants apply, `content` None also if the template does not exist."""

    name: str = ""
    content: Any = None
    problems: tuple[SpecProblem, ...] = ()


def select_template(known: KnownTemplates, explicit: str | Unset, field: str) -> SelectedTemplate:
    named = or_default(explicit, "") or known.default
    name = named or (constants.DEFAULT_TEMPLATE if constants.DEFAULT_TEMPLATE in known.existing else "")
    if not name:
        return SelectedTemplate()
    if name in known.existing:
        return SelectedTemplate(name, known.existing[name])
    in_defaults = f"spec.templateDefaults.{known.kind[0].lower()}{known.kind[1:]}"
    where = field if or_default(explicit, "") else in_defaults
    absent = f"does not exist in namespace {known.namespace!r}"
    reason = known.unusable.get((known.kind, name), absent)
    return SelectedTemplate(name, None, (SpecProblem(where, f"{known.kind} {name!r} {reason}"),))
