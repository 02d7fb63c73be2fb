"""Pipelines and operands as Python expressions, evaluated in Go's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from steward.gotemplate.compile.code import Code, Last, LastOf
from steward.gotemplate.compile.compilation_unit import LENIENT_FUNCTIONS, Name, Scope
from steward.gotemplate.errors import GoError
from steward.gotemplate.evaluation.arguments import constant, ideal, nil_of
from steward.gotemplate.evaluation.invocation import Operand
from steward.gotemplate.syntax.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Node,
    Number,
    Pipe,
    String,
    Variable,
)
from steward.gotemplate.values.values import ANY, DICT, INT, LIST, REFLECT_VALUE, STRING, GoType

LITERALS: Final = (Bool, Number, String)
STAGES: Final = 16
Hoist = Callable[[Code], Code]
_EXACT: Final = {INT: "int", DICT: "dict", LIST: "list"}


class Context:
    """How a value is going to be used, where that changes the code for it.

    lenient: a missing key is no error here, under `defaulted`
    typed:   its type is going to be checked, so a nil that an interface holds must be distinguished from no value
    track:   the local variable that takes the number of the node visited last, where `and`/`or` make that dynamic
    """

    __slots__ = ("lenient", "track", "typed")

    def __init__(self, *, lenient: bool = False, typed: bool = False, track: LastOf | None = None) -> None:
        self.lenient = lenient
        self.typed = typed
        self.track = track


PLAIN: Final = Context()


class Expressions:
    """The expressions of one template."""

    def __init__(self, scope: Scope) -> None:
        from steward.gotemplate.compile.calls import Calls

        self.scope = scope
        self.unit = scope.unit
        self.calls = Calls(self)

    def pipeline(self, pipe: Pipe, context: Context = PLAIN, hoist: Hoist | None = None) -> Code:
        """The value of a pipeline; declared or assigned variables are set on the way."""
        code = self.value(pipe, context, hoist)
        for variable in pipe.variables:
            code = self.set_variable(variable, code, assigns=pipe.assigns)
        return code

    def value(self, pipe: Pipe, context: Context = PLAIN, hoist: Hoist | None = None) -> Code:
        """`hoist` writes a value into a variable of its own: Python nests no deeper than 200 parentheses."""
        final: Code | None = None
        last: Last = pipe
        commands = pipe.commands
        for at, command in enumerate(commands):
            ends = at == len(commands) - 1
            lenient = context.lenient if ends else self.is_lenient(commands[at + 1])
            inner = Context(lenient=lenient, track=context.track if ends else None)
            final = self.command(command, final, last, inner)
            last = final.last
            final.held = final.container = ""
            if hoist is not None and at % STAGES == STAGES - 1 and not ends:
                final = hoist(final)
        assert final is not None
        return final

    def is_lenient(self, command: Command) -> bool:
        word = command.args[0]
        return isinstance(word, Identifier) and word.name in LENIENT_FUNCTIONS

    def set_variable(self, variable: Variable, code: Code, *, assigns: bool) -> Code:
        if assigns:
            found = self.scope.find(variable.name)
            if found is None:
                return self.after(code, self.scope.fault(f"undefined variable: {variable.name}", code.last))
        else:
            found = self.scope.declare(variable.name)
            if variable.name not in self.scope.assigned:
                found.kind = code.kind
        text = f"({found.local}:={code.text})"
        if found.held:
            text = f"({text},({found.held}:=False))[0]"
        return Code(text, code.last, code.kind)

    def after(self, first: Code, second: Code) -> Code:
        """Both, in this order; the value of the second."""
        return Code(f"({first.text},{second.text})[1]", second.last, second.kind)

    def command(self, command: Command, final: Code | None, before: Last, context: Context) -> Code:
        word = command.args[0]
        if isinstance(word, Identifier):
            return self.calls.function(word, command, command.args[1:], final, context)
        if isinstance(word, Field | Variable | Chain):
            return self.calls.member(word, command.args[1:], final, context)
        at = before if isinstance(word, Pipe) else word
        if len(command.args) > 1 or final is not None:
            return self.given(final, self.scope.fault(f"can't give argument to non-function {word}", at))
        if isinstance(word, Pipe):
            return self.pipeline(word, context)
        return self.plain_word(word)

    def given(self, final: Code | None, code: Code) -> Code:
        """A piped value is evaluated before anything goes wrong with where it goes."""
        return code if final is None else self.after(final, code)

    def plain_word(self, word: Node) -> Code:
        if isinstance(word, Dot):
            return self.dot(word)
        if isinstance(word, Nil):
            return self.scope.fault("nil is not a command", word)
        return self.literal(word, ANY)

    def dot(self, node: Node) -> Code:
        known = self.scope.dot
        code = Code(known.text, node, known.kind)
        code.held, code.container, code.safe = known.held, known.container, True
        return code

    def literal(self, node: Node, wanted: GoType) -> Code:
        try:
            value = ideal(node) if wanted is ANY else constant(node, wanted)
        except GoError as error:
            return self.scope.fault(error.text, node)
        return self.scope.constant(value, node)

    def variable(self, node: Variable) -> Code:
        found = self.scope.find(node.name)
        if found is None:
            return self.scope.fault(f"undefined variable: {node.name}", node)
        return self.variable_code(found, node)

    def variable_code(self, found: Name, node: Variable) -> Code:
        code = Code(found.local, node, found.kind)
        code.held, code.container = found.held, found.container
        code.safe = True
        if found.conditional:
            # Declared in an operand that `and` or `or` may have skipped.
            code.text = f"{self.scope.mark(node, node, node.name)}{found.local}"
            code.safe = False
        return code

    def chained(self, chain: Chain, context: Context) -> Code:
        """What a chain's fields are looked up in. Its operands' positions are what errors name."""
        code = self.operand_of_chain(chain.node, context)
        code.held = code.container = ""
        return code

    def operand_of_chain(self, node: Node, context: Context) -> Code:
        if isinstance(node, Pipe):
            return self.pipeline(node, context)
        if isinstance(node, Identifier):
            return self.calls.function(node, node, [], None, context)
        return self.scope.fault(f"can't handle {node}", node)

    def fields(self, receiver: Code, node: Node, names: list[str], context: Context) -> Code:
        """`.a.b` of a receiver, without arguments."""
        last = receiver.last if isinstance(node, Chain) else node
        strict = self.unit.is_strict(context.lenient)
        prefix = self.unit.fields_prefix(context.lenient)
        marked = context.typed and not strict
        mark = self.mark_fields(last, node, names, receiver)
        how = "marked" if marked else "field" if len(names) == 1 else "walk"
        function = self.by_origin(receiver, f"{prefix}_{how}_held", f"{prefix}_{how}")
        text = f"{function}({receiver.text},{','.join(map(repr, names))})"
        if how == "field" and receiver.text == self.scope.root:
            self.scope.views.add(prefix)
            text = f"{prefix.upper()}{_lookup(names[0], strict=strict)}"
        elif how == "field" and receiver.safe and receiver.kind is None and receiver.text.isidentifier():
            entry = f"{receiver.text}{_lookup(names[0], strict=strict)}"
            text = f"({entry} if type({receiver.text}) is dict else {text})"
        code = Code(f"{mark}{text}", last)
        code.held = "" if marked else "1"
        return code

    def mark_fields(self, last: Last, node: Node, names: list[str], receiver: Code) -> str:
        operation = self.scope.operation(last, node, names[0])
        operation.container = receiver.container
        return self.unit.record.mark(operation)

    def by_origin(self, code: Code, held: str, plain: str) -> str:
        """The variant of a runtime function for a value whose static type is interface{}, or is not."""
        if code.held in ("", "1"):
            return held if code.held else plain
        return f"({held} if {code.held} else {plain})"

    def argument(self, node: Node, wanted: GoType, context: Context) -> Code:
        """An operand where a parameter of that type is, checked. Only `len` distinguishes the two nils."""
        if isinstance(node, LITERALS):
            return self.literal(node, wanted)
        if isinstance(node, Nil):
            return self.nil(node, wanted)
        typed = context.typed or (wanted is not ANY and wanted is not REFLECT_VALUE)
        return self.checked(self.operand(node, context, typed=typed), wanted)

    def nil(self, node: Nil, wanted: GoType) -> Code:
        if not wanted.nilable:
            return self.scope.fault(f"cannot assign nil to {wanted.name}", node)
        return self.scope.constant(nil_of(wanted), node)

    def operand(self, node: Node, context: Context, *, typed: bool) -> Code:
        track = LastOf(self.unit.fresh("l")) if typed else context.track
        inner = Context(lenient=context.lenient, typed=typed, track=track)
        if isinstance(node, Dot):
            return self.dot(node)
        if isinstance(node, Pipe):
            code = self.pipeline(node, inner)
            code.held = code.container = ""
            return code
        if isinstance(node, Identifier):
            return self.calls.function(node, node, [], None, inner)
        if isinstance(node, Field | Variable | Chain):
            return self.calls.member(node, [], None, inner)
        return self.scope.fault(f"can't handle {node}", node)

    def checked(self, code: Code, wanted: GoType) -> Code:
        if wanted is STRING and code.kind is STRING and code.literal is None and not code.charged:
            return Code(
                f"(t if len(t:={code.text})<1024 else{self.scope.mark(code.last)}S(t,B))", code.last, STRING
            )
        if wanted is ANY or wanted is REFLECT_VALUE or code.kind is wanted:
            return code
        mark = self.scope.mark(code.last)
        if wanted is STRING:
            slow = self.by_origin(code, "Sh", "S")
            text = f"(t if type(t:={code.text}) is str and len(t)<1024 else{mark}{slow}(t,B))"
        elif wanted in _EXACT:
            slow = f"{self.by_origin(code, 'Wh', 'W')}(t,{self.unit.name_object(wanted)})"
            text = f"(t if type(t:={code.text}) is {_EXACT[wanted]} else{mark}{slow})"
        else:
            text = f"{mark}{self.by_origin(code, 'Wh', 'W')}({code.text},{self.unit.name_object(wanted)})"
        return Code(text, code.last, wanted)

    def spec(self, node: Node, context: Context) -> Code:
        """An operand of a method, whose signature only the run knows: its code, to be run when it is needed."""
        if isinstance(node, (*LITERALS, Nil)):
            return Code(f"({self.unit.name_object(Operand(node, node))},None)", node)
        code = self.operand(node, context, typed=True)
        last = code.last if isinstance(code.last, Node) else node
        held = "1" if code.held == "1" else ""
        return Code(f"({self.unit.name_object(Operand(node, last, held))},lambda:{code.text})", last)


def _lookup(name: str, *, strict: bool) -> str:
    """Indexing of a plain map. A KeyError is how a missing key shows where it is an error."""
    return f"[{name!r}]" if strict else f".get({name!r})"
