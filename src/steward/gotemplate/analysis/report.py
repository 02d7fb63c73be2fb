"""Reports the problems of a template source, and the variables and functions that it uses."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from steward.gotemplate.analysis.static import Problem, Report, inspect, problem_of
from steward.gotemplate.errors import ParseError
from steward.gotemplate.funcs.registry import Function, declare
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.parse_cache import refusal, settings_of, trees_of
from steward.gotemplate.template import Settings
from steward.gotemplate.values.values import canonical


def check(
    source: str,
    name: str = "template",
    *,
    functions: str = "sprig",
    profile: str = "hermetic",
    missingkey: str = "error",
    delims: tuple[str, str] = ("", ""),
) -> Report:
    """All problems of a template, and what it uses; never raises for a bad template."""
    settings = settings_of(functions, profile, missingkey)
    source = canonical(source)
    refused: dict[str, str] = {}

    def note(word: str) -> None:
        why = refusal(settings, word)
        if why is not None:
            refused[word] = why

    try:
        trees = trees_of(name, source, delims, settings, note)
    except ParseError as error:
        return Report(list(_parse_problems(error, name, source, delims, settings)), [], [], [])
    functions_there = _with_stand_ins(settings.functions, refused)
    try:
        report = inspect(name, source, trees, settings._replace(functions=functions_there))
    except RecursionError:
        return Report([Problem(f"template: {name}:1: nested too deeply", 1, None)], [], [], [])
    unknown = [
        Problem(
            f"template: {name}:{use.line}: function {quote(use.name)} not defined{refused[use.name]}",
            *use[1:],
        )
        for use in report.functions
        if use.name in refused
    ]
    return report._replace(problems=sorted(unknown + report.problems, key=lambda problem: problem[1:]))


def _parse_problems(
    error: ParseError, name: str, source: str, delims: tuple[str, str], settings: Settings
) -> Iterator[Problem]:
    """The syntax error; and before it the first function that is not there, if there is one."""
    try:
        trees_of(name, source, delims, settings, functools.partial(refusal, settings))
    except ParseError as first:
        if first.text != error.text:
            yield problem_of(first)
    yield problem_of(error)


def _with_stand_ins(functions: Mapping[str, Function], refused: dict[str, str]) -> Mapping[str, Function]:
    """Adds functions that take anything in place of missing ones, so that the rest can be checked."""
    missing = [word for word in refused if word not in functions]
    return {**functions, **{word: declare(f"{word}(...any) any", print) for word in missing}}
