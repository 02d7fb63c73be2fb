"""What the compilation of one source shares: functions, missing-key mode, names for objects, variables in scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from steward.gotemplate.budget import Budget
from steward.gotemplate.compile.code import Code, Last, Operation, Record
from steward.gotemplate.evaluation import arguments, loops
from steward.gotemplate.evaluation.fields import NULL, Fields, MissingKey
from steward.gotemplate.evaluation.invocation import PIPED
from steward.gotemplate.evaluation.runtime_errors import fail
from steward.gotemplate.fmt import escaping
from steward.gotemplate.fmt.formats import PLAIN
from steward.gotemplate.fmt.printing import Printer
from steward.gotemplate.funcs.registry import Function
from steward.gotemplate.syntax.nodes import Action, Block, Branch, Command, Invocation, Node, Pipe
from steward.gotemplate.values.values import GoType, Value, canonical, type_of

LENIENT_FUNCTIONS: Final = frozenset({"default", "coalesce", "empty", "index", "get", "hasKey", "dig"})
"""What may be given a missing key under `defaulted`: they exist to test for absence."""


def _charge_text(text: str, budget: Budget) -> str:
    budget.build(len(text))
    return text


def _charge_items(items: Any, budget: Budget) -> Any:
    budget.build(2 * len(items))
    return items


def _charge_any(value: Value, budget: Budget) -> Value:
    if isinstance(value, str):
        if len(value) > 256:
            budget.build(len(value))
    elif isinstance(value, list | dict) and len(value) > 32:
        budget.build(2 * len(value))
    return value


def _print_one(value: Value, verb: str, budget: Budget) -> str:
    return Printer(PLAIN, budget).argument(value, verb)


def _finish_format(text: str, budget: Budget) -> str:
    budget.build(len(text))
    return canonical(text)


def _null(value: Value) -> Value:
    return NULL if value is None else value


RUNTIME: Final[dict[str, Any]] = {
    "PIPED": PIPED,
    "S": arguments.want_string,
    "Sh": arguments.want_held_string,
    "W": arguments.want,
    "Wh": arguments.want_held,
    "N": _null,
    "E": fail,
    "Q": _charge_text,
    "Ql": _charge_items,
    "Qa": _charge_any,
    "Pv": _print_one,
    "Pf": _finish_format,
    "I1": loops.elements,
    "I2": loops.pairs,
    "s": escaping.printed,
}


class Name:
    """A template variable: the Python local that holds it, and what is known of its values."""

    __slots__ = ("conditional", "container", "held", "kind", "local")

    def __init__(self, local: str) -> None:
        self.local = local
        self.held = ""
        self.container = ""
        self.kind: GoType | None = None
        self.conditional = False


class Unit:
    """One source being compiled."""

    def __init__(self, functions: Mapping[str, Function], missing: MissingKey) -> None:
        self.functions = functions
        self.missing = missing
        self.record = Record()
        self.namespace: dict[str, Any] = dict(RUNTIME)
        self.strict = missing in (MissingKey.ERROR, MissingKey.DEFAULTED)
        self._add_fields("f", Fields(MissingKey.ERROR if self.strict else missing))
        if missing is MissingKey.DEFAULTED:
            self._add_fields("g", Fields(MissingKey.DEFAULT))
        self._counter = 0
        self.template_locals: dict[str, str] = {}
        self.faults: list[tuple[str, Node, str]] = []

    def _add_fields(self, prefix: str, fields: Fields) -> None:
        for name in (
            "view",
            "field",
            "field_held",
            "walk",
            "walk_held",
            "marked",
            "marked_held",
            "invoke",
            "invoke_held",
        ):
            self.namespace[f"{prefix}_{name}"] = getattr(fields, name)

    def fresh(self, letter: str) -> str:
        self._counter += 1
        return f"{letter}{self._counter}"

    def name_object(self, value: Any) -> str:
        """A global of the generated module that holds an object."""
        name = self.fresh("K")
        self.namespace[name] = value
        return name

    def name_function(self, function: Function) -> str:
        name = f"F_{function.name}"
        self.namespace[name] = function.call
        return name

    def is_strict(self, lenient: bool) -> bool:
        """Whether a missing key is an error here."""
        return self.strict and not (lenient and self.missing is MissingKey.DEFAULTED)

    def fields_prefix(self, lenient: bool) -> str:
        return "g" if lenient and self.missing is MissingKey.DEFAULTED else "f"


class Scope:
    """Inside one template: dot, the variables in sight, and which of them are assigned how."""

    def __init__(self, unit: Unit, template: str, body: Block) -> None:
        self.unit = unit
        self.template = template
        self.root = "d0"
        self.dot = Code("d0", body)
        self.dot.safe = True
        self.views: set[str] = set()
        self.conditional = False
        self.preludes: list[str] = []
        assigned = Assignments(body)
        self.assigned = assigned.by_pipe | assigned.by_range
        self.mixed = assigned.by_range | (assigned.by_pipe & assigned.range_declared)
        root = Name("d0")
        if "$" in self.assigned:
            root = Name("v0")
        self.names: list[tuple[str, Name]] = [("$", root)]

    def find(self, name: str) -> Name | None:
        for known, found in reversed(self.names):
            if known == name:
                return found
        return None

    def declare(self, name: str) -> Name:
        made = Name(self.unit.fresh("v"))
        hidden = self.find(name) if self.conditional else None
        made.conditional = self.conditional and hidden is None
        if hidden is not None:
            # Where the declaration is skipped, the variable that it would hide stays in sight.
            self.preludes.append(f"{made.local}={hidden.local}")
        if name in self.mixed:
            made.held = self.unit.fresh("i")
        self.names.append((name, made))
        return made

    @contextmanager
    def block(self, dot: Code | None = None) -> Iterator[None]:
        """Variables declared inside end with the block; dot may be another."""
        known, before = len(self.names), self.dot
        if dot is not None:
            self.dot = dot
        yield
        del self.names[known:]
        self.dot = before

    def operation(self, last: Last, call: Node | None = None, name: str = "") -> Operation:
        return Operation(self.template, last, call, name)

    def mark(self, last: Last, call: Node | None = None, name: str = "") -> str:
        return self.unit.record.mark(self.operation(last, call, name))

    def fault(self, text: str, at: Last) -> Code:
        """Code that fails when it is reached: the error is certain already."""
        if isinstance(at, Node):
            self.unit.faults.append((text, at, self.template))
        return Code(f"{self.mark(at)}E({text!r})", at)

    def constant(self, value: Value, node: Node) -> Code:
        plain = value is None or type(value) in (str, int, bool, float)
        code = Code(repr(value) if plain else self.unit.name_object(value), node, type_of(value))
        code.safe = True
        code.literal = value if type(value) is str else None
        return code


class Assignments:
    """Which variable names a template assigns with `=`, by an action or by a range, and which a range declares."""

    def __init__(self, body: Block) -> None:
        self.by_pipe: set[str] = set()
        self.by_range: set[str] = set()
        self.range_declared: set[str] = set()
        self._visit(body)

    def _visit(self, node: Node | None) -> None:
        if isinstance(node, Block):
            for inner in node.nodes:
                self._visit(inner)
        elif isinstance(node, Branch):
            self._visit_pipe(node.pipe, node.word == "range")
            self._visit(node.body)
            self._visit(node.otherwise)
        elif isinstance(node, Action | Invocation) and node.pipe is not None:
            self._visit_pipe(node.pipe, False)

    def _visit_pipe(self, pipe: Pipe, ranges: bool) -> None:
        names = {variable.name for variable in pipe.variables}
        if pipe.assigns:
            (self.by_range if ranges else self.by_pipe).update(names)
        elif ranges:
            self.range_declared |= names
        for command in pipe.commands:
            self._visit_command(command)

    def _visit_command(self, command: Command) -> None:
        for arg in command.args:
            inner = getattr(arg, "node", arg)
            if isinstance(inner, Pipe):
                self._visit_pipe(inner, False)
