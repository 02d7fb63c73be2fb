"""From a source to a template, remembered."""

from __future__ import annotations

import functools

from steward.gotemplate.budget import DEFAULT_LIMITS, Limits, Profile
from steward.gotemplate.errors import ParseError
from steward.gotemplate.evaluation.fields import MissingKey
from steward.gotemplate.funcs import function_set
from steward.gotemplate.syntax.lexer import delims_of
from steward.gotemplate.syntax.parser import Trees, parse_trees
from steward.gotemplate.syntax.pipelines import FindFunction
from steward.gotemplate.template import Settings, Template
from steward.gotemplate.values.values import canonical


@functools.lru_cache(maxsize=1024)
def parse(
    source: str,
    name: str = "template",
    *,
    functions: str = "sprig",
    profile: str = "hermetic",
    missingkey: str = "error",
    delims: tuple[str, str] = ("", ""),
    limits: Limits = DEFAULT_LIMITS,
) -> Template:
    """A template ready to render; ParseError if it is none. Equal arguments give the same template.

    functions:  `sprig`, `tenants` or `builtins`
    profile:    `hermetic`, or `full` with clock, random numbers and keys
    missingkey: `default`, `invalid`, `zero`, `error` or `defaulted`
    """
    settings = settings_of(functions, profile, missingkey, limits)
    source = canonical(source)
    trees = trees_of(name, source, delims, settings, functools.partial(refusal, settings))
    return Template(name, source, trees, settings)


def settings_of(functions: str, profile: str, missingkey: str, limits: Limits = DEFAULT_LIMITS) -> Settings:
    missing = MissingKey("default" if missingkey == "invalid" else missingkey)
    return Settings(function_set(functions), functions, Profile(profile), missing, limits)


def refusal(settings: Settings, word: str) -> str | None:
    """Why a template may not call a function: what follows Go's words, or None if it may."""
    try:
        known = settings.functions[word]
    except KeyError:
        return ""
    if known.profile is Profile.FULL and settings.profile is Profile.HERMETIC:
        return ": it is in profile full, and this template has profile hermetic"
    return None


def trees_of(
    name: str, source: str, delims: tuple[str, str], settings: Settings, find: FindFunction
) -> Trees:
    if len(source) > settings.limits.source:
        raise ParseError(f"template: {name}:1: source is larger than {settings.limits.source} bytes", 1)
    try:
        return parse_trees(name, source, delims_of(*delims), find)
    except RecursionError:
        raise ParseError(f"template: {name}:1: nested too deeply", 1) from None
