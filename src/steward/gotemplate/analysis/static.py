"""Static analysis of a template: its problems, and the variables and functions it uses.

Lines count from 1 and columns count bytes from 0, as in Go's errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from steward.gotemplate.compile.compilation_unit import LENIENT_FUNCTIONS, Unit
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
    String,
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
    required: Sequence[Use] = ()
    """The variables without which the template fails under `defaulted`, unless a condition on the same variable decides
    whether they are reached."""


def problem_of(error: ParseError) -> Problem:
    return Problem(error.text, error.line, error.column)


def inspect(name: str, source: str, trees: Trees, settings: Settings) -> Report:
    """A report on trees that parsed, whether or not all their functions may be called."""
    functions = [_use(source, node.name, node.pos) for node in _identifiers(trees)]
    known = settings.functions
    doubtful = [use for use in functions if not _is_repeatable(known.get(use.name))]
    problems = _certain_faults(name, source, trees, settings)
    variables = list(_variables(name, source, trees))
    required = [use for use, is_required in variables if is_required]
    return Report(problems, [use for use, _ in variables], functions, doubtful, required)


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


def _variables(name: str, source: str, trees: Trees) -> Iterator[tuple[Use, bool]]:
    """Fields of the data itself, and whether each is required: of `$` anywhere, of dot where dot is still the data."""
    seen = set()
    todo = [(name, frozenset[str]())]
    while todo:
        template, tested = todo.pop(0)
        if template in seen or template not in trees:
            continue
        seen.add(template)
        for node, use in _of_data(trees[template], _DataUse(tested=tested)):
            if isinstance(node, Invocation):
                todo.append((node.name, use.tested))
            else:
                found = _path_use(source, node)
                yield found, not use.is_lenient and found.name.split(".")[0] not in use.tested


class _DataUse(NamedTuple):
    """How the data is used at a node."""

    dot_is_data: bool = True
    is_lenient: bool = False
    """Whether a missing key is no error here."""
    tested: frozenset[str] = frozenset()
    """What the conditions around it mention: the names of variables, and texts such as those given to hasKey."""


def _of_data(node: Node | None, use: _DataUse) -> Iterator[tuple[Node, _DataUse]]:
    """Fields and `$` variables that read the data, and invocations that hand it on."""
    if isinstance(node, Branch):
        yield from _of_branch(node, use)
        return
    if _hands_data_on(node, use) or _reads_data(node, use):
        assert node is not None
        yield node, use
    for child, below in _uses_below(node, use):
        yield from _of_data(child, below)


def _of_branch(node: Branch, use: _DataUse) -> Iterator[tuple[Node, _DataUse]]:
    condition = use._replace(is_lenient=node.word != "range")
    yield from _of_data(node.pipe, condition)
    inside = use._replace(tested=use.tested | _mentioned(node.pipe))
    yield from _of_data(node.body, inside._replace(dot_is_data=use.dot_is_data and node.word == "if"))
    yield from _of_data(node.otherwise, inside)


def _mentioned(pipe: Pipe) -> frozenset[str]:
    names = set()
    for node in _walk(pipe):
        if isinstance(node, Field | Variable) and node.names:
            names.add(node.names[0])
        elif isinstance(node, String):
            names.add(node.text)
    return frozenset(names)


def _hands_data_on(node: Node | None, use: _DataUse) -> bool:
    return (
        isinstance(node, Invocation)
        and node.pipe is not None
        and str(node.pipe) in ("$", "." if use.dot_is_data else "$")
    )


def _reads_data(node: Node | None, use: _DataUse) -> bool:
    if isinstance(node, Variable):
        return node.name == "$" and bool(node.names)
    return isinstance(node, Field) and use.dot_is_data


def _uses_below(node: Node | None, use: _DataUse) -> Iterator[tuple[Node | None, _DataUse]]:
    """The children with what the compiler grants them: only operands of some functions may be missing."""
    if isinstance(node, Pipe):
        for command, following in zip(node.commands, [*node.commands[1:], None], strict=True):
            lenient = use.is_lenient if following is None else _takes_missing(following)
            yield command, use._replace(is_lenient=lenient)
    elif isinstance(node, Command) and isinstance(node.args[0], Identifier):
        for arg in node.args:
            yield arg, use._replace(is_lenient=_takes_missing(node))
    else:
        for child in [] if node is None else _children(node):
            yield child, use._replace(is_lenient=use.is_lenient and not isinstance(node, Action))


def _takes_missing(command: Command) -> bool:
    word = command.args[0]
    return isinstance(word, Identifier) and word.name in LENIENT_FUNCTIONS


def _path_use(source: str, node: Node) -> Use:
    assert isinstance(node, Field | Variable)
    # Go gives a chain of fields the position of its second part; a reader looks for its first.
    before = len("$") if isinstance(node, Variable) else 1 + len(node.names[0]) if len(node.names) > 1 else 0
    return _use(source, ".".join(node.names), node.pos - before)
