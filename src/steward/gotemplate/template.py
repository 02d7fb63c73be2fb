"""A parsed template, compiled to a Python function when it is first rendered.

Parsing and compiling are kept apart because checks only parse. Closures over the parse tree were measured against
generated source: a name renders in 0.42 against 0.25 microseconds, a manifest of twenty lines in 13 against 7. Source
takes longer to compile (0.7 ms for that manifest), but a template is compiled once and rendered for every row.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from steward.gotemplate.budget import DEFAULT_LIMITS, Budget, Limits, Profile, budget_of
from steward.gotemplate.compile.code import Generated
from steward.gotemplate.compile.compilation_unit import Unit
from steward.gotemplate.compile.statements import Statements
from steward.gotemplate.errors import BudgetExceeded, TemplateError
from steward.gotemplate.evaluation.fields import MissingKey
from steward.gotemplate.fmt.escaping import printed
from steward.gotemplate.funcs.registry import Function
from steward.gotemplate.syntax.nodes import Block, Branch, Invocation, Node
from steward.gotemplate.syntax.parser import Trees
from steward.gotemplate.values.values import Value, canonical, to_bytes

_numbers: Final = itertools.count(1)
Body = Callable[[Value, Budget], Any]
"""Gives the pieces of the output, or all of it as one string."""
SMALL: Final = 64 << 10


class Settings(NamedTuple):
    """What besides its source makes a template what it is."""

    functions: Mapping[str, Function]
    functions_name: str
    profile: Profile
    missing: MissingKey
    limits: Limits


class Module:
    """The generated code of a source, and the way from its exceptions to the reader's errors."""

    __slots__ = ("body", "code", "generated")

    def __init__(self, code: str, body: Body, generated: Generated) -> None:
        self.code = code
        self.body = body
        self.generated = generated


class Template:
    """Renders data. Made by `parse`; holds no state of a rendering, so it may be shared."""

    def __init__(self, name: str, source: str, trees: Trees, settings: Settings) -> None:
        self.name = name
        self.source = source
        self.trees = trees
        self.settings = settings
        self.render: Callable[[Value], str] = self._first_render
        self._value_module: Module | None = None

    def _first_render(self, data: Value) -> str:
        """Compiles, and puts in its own place what needs no more looking: a name renders in the time of a few calls."""
        module = self._compile(typed_output=False)
        self.render = renderer(module, self.settings)
        return self.render(data)

    def render_bytes(self, data: Value) -> bytes:
        return to_bytes(self.render(data))

    def render_value(self, data: Value) -> str | int | float | bool:
        """A typed value if all that is put out is one value of `int`, `float` or `bool` of the tenants set."""
        module = self._value_module
        if module is None:
            typed = self.settings.functions_name == "tenants"
            module = self._value_module = self._compile(typed_output=typed)
        pieces = self._pieces(module, data)
        if len(pieces) == 1 and not isinstance(pieces[0], str):
            value: int | float | bool = pieces[0]
            return value
        texts = [piece if isinstance(piece, str) else printed(piece, Budget()) for piece in pieces]
        return joined(texts, module.generated, self.settings.limits)

    def _pieces(self, module: Module, data: Value) -> list[Any]:
        try:
            out = module.body(data, budget_of(self.settings.limits, self.settings.profile))
        except Exception as error:
            raise explained(error, module.generated) from None
        return [out] if isinstance(out, str) else [piece for piece in out if piece != ""]

    def _compile(self, *, typed_output: bool) -> Module:
        try:
            return self._generate(typed_output=typed_output)
        except (SyntaxError, RecursionError, MemoryError):
            # Python itself nests parentheses, blocks and calls only so deep.
            error = BudgetExceeded(f"template: {self.name}: expressions nested too deeply")
            error.source = self.source
            raise error from None

    def _generate(self, *, typed_output: bool) -> Module:
        unit = Unit(self.settings.functions, self.settings.missing)
        invoked = reachable(self.name, self.trees)
        unit.template_locals = {name: f"t{number}" for number, name in enumerate(invoked)}
        marked = Statements(unit, self.name, self.trees[self.name], typed_output=typed_output).root("render")
        for name, local in unit.template_locals.items():
            marked += Statements(unit, name, self.trees[name], typed_output=typed_output).function(local)
        source, lines = unit.record.lay_out(marked)
        filename = f"<template {next(_numbers)}>"
        exec(compile(source, filename, "exec", dont_inherit=True, optimize=0), unit.namespace)
        return Module(source, unit.namespace["render"], Generated(self.name, self.source, filename, lines))


def explained(error: Exception, generated: Generated) -> TemplateError:
    # What only a failure needs is imported when there is one.
    from steward.gotemplate.compile.positions import explain_exception

    return explain_exception(error, generated)


def renderer(module: Module, settings: Settings) -> Callable[[Value], str]:
    """The function that `Template.render` is from the second time on."""
    body, generated, limits = module.body, module.generated, settings.limits
    small = min(SMALL, limits.output)
    start = functools.partial(budget_of, limits, settings.profile)
    if limits is DEFAULT_LIMITS and settings.profile is Profile.HERMETIC:
        start = Budget  # type: ignore[assignment]

    def render(data: Value) -> str:
        try:
            out = body(data, start())
        except Exception as error:
            raise explained(error, generated) from None
        if type(out) is str and len(out) <= small and out.isascii():
            return out
        return joined(out, generated, limits)

    return render


def joined(pieces: list[str] | str, generated: Generated, limits: Limits) -> str:
    """All pieces as one text, if it is not too long."""
    if isinstance(pieces, str):
        pieces = [pieces]
    if sum(map(len, pieces)) > limits.output:
        raise BudgetExceeded(f"template: {generated.name}: output is larger than {limits.output} bytes")
    text = "".join(pieces)
    return text if text.isascii() else canonical(text)


def reachable(name: str, trees: Trees) -> list[str]:
    """The templates that rendering `name` can come to by invocations; itself only if it is invoked."""
    found: list[str] = []
    for known in itertools.chain([name], found):
        for invoked in _invocations(trees[known]):
            if invoked in trees and invoked not in found:
                found.append(invoked)
    return found


def _invocations(node: Node | None) -> list[str]:
    if isinstance(node, Invocation):
        return [node.name]
    if isinstance(node, Block):
        return [name for inner in node.nodes for name in _invocations(inner)]
    if isinstance(node, Branch):
        return _invocations(node.body) + _invocations(node.otherwise)
    return []
