"""Static analysis of a template: its problems, and the variables and functions it uses.

Lines count from 1 and columns count bytes from 0, as in Go's errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from steward.gotemplate.compile.compilation_unit import Unit
from steward.gotemplate.compile.positions import line_and_column
from steward.gotemplate.compile.statements import Statements
from steward.gotemplate.errors import ParseError
from steward.gotemplate.funcs.registry import Function
from steward.gotemplate.syntax.nodes import (
    Action,
    Block,
    Branch,
    Chain,
    Command,
    Field,
    Identifier,
    Invocation,
    Node,
    Pipe,
    Variable,
)
from steward.gotemplate.syntax.parser import Trees
from steward.gotemplate.template import Settings, reachable


class Use(NamedTuple):
    """Where a template uses something: a variable's path such as `uid` or `spec.size`, or a function's name."""

    name: str
    line: int
    column: int


class Problem(NamedTuple):
    """Why a template cannot work; `text` is Go's error text. Column is None where Go names none."""

    text: str
    line: int
    column: int | None


class Report(NamedTuple):
    """The result of analysing one template."""

    problems: list[Problem]
    variables: list[Use]
    functions: list[Use]
    non_repeatable: list[Use]


def problem_of(error: ParseError) -> Problem:
    return Problem(error.text, error.line, error.column)


def inspect(name: str, source: str, trees: Trees, settings: Settings) -> Report:
    """A report on trees that parsed, whether or not all their functions may be called."""
    functions = [_use(source, node.name, node.pos) for node in _identifiers(trees)]
    known = settings.functions
    doubtful = [use for use in functions if not _is_repeatable(known.get(use.name))]
    problems = _certain_faults(name, source, trees, settings)
    return Report(problems, list(_variables(name, source, trees)), functions, doubtful)


def _is_repeatable(function: Function | None) -> bool:
    return function is None or function.repeatable


def _use(source: str, name: str, pos: int) -> Use:
    return Use(name, *line_and_column(source, pos))


def _certain_faults(name: str, source: str, trees: Trees, settings: Settings) -> list[Problem]:
    """Errors that are certain wherever they are reached: wrong numbers of arguments, unknown templates, ..."""
    unit = Unit(settings.functions, settings.missing)
    unit.template_locals = dict.fromkeys(trees, "t")
    for known in dict.fromkeys([name, *reachable(name, trees), *trees]):
        Statements(unit, known, trees[known], typed_output=False).function("t")
    problems = []
    for text, node, template in unit.faults:
        line, column = line_and_column(source, node.pos)
        where = f'template: {name}:{line}:{column}: executing "{template}" at <{node}>: {text}'
        problems.append(Problem(where, line, column))
    return problems


def _identifiers(trees: Trees) -> Iterator[Identifier]:
    for body in trees.values():
        for node in _walk(body):
            if isinstance(node, Identifier):
                yield node


def _walk(node: Node | None) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    if node is None:
        return
    yield node
    for child in _children(node):
        yield from _walk(child)


def _children(node: Node) -> list[Node | None]:
    if isinstance(node, Block):
        return list(node.nodes)
    if isinstance(node, Branch):
        return [node.pipe, node.body, node.otherwise]
    if isinstance(node, Action | Invocation):
        return [node.pipe]
    if isinstance(node, Pipe):
        return list(node.commands)
    if isinstance(node, Command):
        return list(node.args)
    return [node.node] if isinstance(node, Chain) else []


def _variables(name: str, source: str, trees: Trees) -> Iterator[Use]:
    """Fields of the data itself: of `$` anywhere, and of dot where dot is still the data."""
    seen = set()
    todo = [name]
    while todo:
        template = todo.pop(0)
        if template in seen or template not in trees:
            continue
        seen.add(template)
        for node in _of_data(trees[template], dot_is_data=True):
            if isinstance(node, Invocation):
                todo.append(node.name)
            else:
                yield _path_use(source, node)


def _of_data(node: Node | None, *, dot_is_data: bool) -> Iterator[Node]:
    """Fields and `$` variables that read the data, and invocations that hand it on."""
    if isinstance(node, Branch):
        yield from _of_data(node.pipe, dot_is_data=dot_is_data)
        yield from _of_data(node.body, dot_is_data=dot_is_data and node.word == "if")
        yield from _of_data(node.otherwise, dot_is_data=dot_is_data)
        return
    if (
        isinstance(node, Invocation)
        and node.pipe is not None
        and str(node.pipe) in ("$", "." if dot_is_data else "$")
    ):
        yield node
    if (isinstance(node, Field) and dot_is_data) or (
        isinstance(node, Variable) and node.name == "$" and node.names
    ):
        yield node
    for child in [] if node is None else _children(node):
        yield from _of_data(child, dot_is_data=dot_is_data)


def _path_use(source: str, node: Node) -> Use:
    assert isinstance(node, Field | Variable)
    # Go gives a chain of fields the position of its second part; a reader looks for its first.
    before = len("$") if isinstance(node, Variable) else 1 + len(node.names[0]) if len(node.names) > 1 else 0
    return _use(source, ".".join(node.names), node.pos - before)
