"""Go's text/template with sprig, in Python: the same output, the same errors, and safe with untrusted templates.

    template = parse("{{ .uid | upper }}-api")
    template.render({"uid": "acme"})            # 'ACME-api'

`parse` compiles once and remembers; `check` reports a template's problems and what it uses, without data;
`explain` formats an error for people; `from_json` reads data as Go does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from steward.gotemplate.budget import DEFAULT_LIMITS, Limits, Profile
from steward.gotemplate.errors import BudgetExceeded, ExecError, ParseError, TemplateError
from steward.gotemplate.evaluation.fields import MissingKey
from steward.gotemplate.parse_cache import parse
from steward.gotemplate.template import Template

if TYPE_CHECKING:
    from steward.gotemplate.analysis.report import check
    from steward.gotemplate.analysis.static import Problem, Report, Use
    from steward.gotemplate.data import from_json
    from steward.gotemplate.explanation import explain

_LATER: Final = {
    "Problem": "analysis.static",
    "Report": "analysis.static",
    "Use": "analysis.static",
    "check": "analysis.report",
    "explain": "explanation",
    "from_json": "data",
}


def __getattr__(name: str) -> Any:
    """Import what rendering does not need on first use, so that command line tools start sooner."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)


__all__ = [
    "DEFAULT_LIMITS",
    "BudgetExceeded",
    "ExecError",
    "Limits",
    "MissingKey",
    "ParseError",
    "Problem",
    "Profile",
    "Report",
    "Template",
    "TemplateError",
    "Use",
    "check",
    "explain",
    "from_json",
    "parse",
]
