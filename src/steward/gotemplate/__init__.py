"""Go's text/template with sprig, in Python: the same output, the same errors, and safe to run for strangers.

    template = parse("{{ .uid | upper }}-api")
    template.render({"uid": "acme"})            # 'ACME-api'

`parse` compiles once and remembers; `check` tells what is wrong with a template, and what it uses, without data;
`explain` turns an error into lines for people; `from_json` reads data as Go does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from steward.gotemplate.budget import DEFAULT_LIMITS, Limits
from steward.gotemplate.errors import BudgetExceeded, ExecError, ParseError, TemplateError
from steward.gotemplate.evaluation.fields import MissingKey
from steward.gotemplate.funcs.registry import Profile
from steward.gotemplate.parse_cache import parse
from steward.gotemplate.template import Template

if TYPE_CHECKING:
    from steward.gotemplate.compile.checking import check
    from steward.gotemplate.compile.static import Problem, Report, Use
    from steward.gotemplate.data import from_json
    from steward.gotemplate.explanation import explain

_LATER: Final = {
    "Problem": "compile.static",
    "Report": "compile.static",
    "Use": "compile.static",
    "check": "compile.checking",
    "explain": "explanation",
    "from_json": "data",
}


def __getattr__(name: str) -> Any:
    """What a rendering does not need is imported when it is asked for: a command line tool starts sooner."""
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
