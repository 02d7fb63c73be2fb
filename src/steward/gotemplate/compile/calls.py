"""Function calls and member access: arguments checked one by one, as Go evaluates and checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from steward.gotemplate.compile.code import Code, Last, LastOf
from steward.gotemplate.compile.compilation_unit import LENIENT_FUNCTIONS
from steward.gotemplate.funcs.registry import Function
from steward.gotemplate.syntax.nodes import Chain, Field, Identifier, Node, Variable
from steward.gotemplate.values.values import ANY, REFLECT_VALUE, STRING, GoType

if TYPE_CHECKING:
    from steward.gotemplate.compile.expressions import Context, Expressions

PASSING: Final = frozenset({"default", "coalesce", "ternary", "first", "last", "get", "index", "dig", "fail"})
"""They return what they were given, so there is nothing to charge for."""


class Calls:
    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.scope = expressions.scope
        self.unit = expressions.unit

    def function(
        self, word: Identifier, command: Node, args: list[Node], final: Code | None, context: Context
    ) -> Code:
        function = self.unit.functions[word.name]
        wrong = _wrong_number(function, len(args), final is not None)
        if wrong:
            return self.expressions.given(final, self.scope.fault(wrong, word))
        context = self.context_of_operands(word.name, context)
        if word.name in ("and", "or"):
            return self.logic(word, args, final, context)
        codes = [
            self.expressions.argument(arg, wanted, context)
            for arg, wanted in zip(args, _types(function, len(args)), strict=True)
        ]
        if final is not None:
            return self.piped(function, word, command, codes, final)
        return self.call(function, word, command, codes)

    def context_of_operands(self, name: str, context: Context) -> Context:
        return type(context)(lenient=name in LENIENT_FUNCTIONS, track=context.track, typed=name == "len")

    def piped(self, function: Function, word: Node, command: Node, codes: list[Code], final: Code) -> Code:
        """The piped value comes first in time and last in the argument list."""
        wanted = _types(function, len(codes) + 1)[-1]
        inline = all(code.safe for code in codes)
        passed = Code(
            final.text if inline else self.unit.fresh("p"), codes[-1].last if codes else word, final.kind
        )
        code = self.call(function, word, command, [*codes, self.expressions.checked(passed, wanted)])
        if inline:
            return code
        return Code(f"({passed.text}:={final.text},{code.text})[1]", code.last, code.kind)

    def call(self, function: Function, word: Node, command: Node, codes: list[Code]) -> Code:
        last: Last = codes[-1].last if codes else word
        inline = _INLINE.get(function.name)
        code = None if inline is None else inline(self, function, command, codes)
        if code is not None:
            return code
        texts = [code.text for code in codes]
        if function.name == "call":
            texts.insert(0, self.callee(command, codes))
        if function.budgeted:
            texts.insert(0, "B")
        mark = self.scope.mark(last, command, function.name)
        text = f"{mark}{self.unit.name_function(function)}({','.join(texts)})"
        return self.charged(
            function, command, Code(text, last, None if function.result is ANY else function.result)
        )

    def negation(self, function: Function, _command: Node, codes: list[Code]) -> Code:
        return Code(f"(not {codes[0].text})", codes[0].last, function.result)

    def length(self, function: Function, command: Node, codes: list[Code]) -> Code:
        """Only `len` distinguishes a nil that an interface holds from no value."""
        item = codes[0]
        text = item.text
        if item.held:
            text = f"N({text})" if item.held == "1" else f"(N({text}) if {item.held} else {text})"
        mark = self.scope.mark(item.last, command, function.name)
        return Code(f"{mark}{self.unit.name_function(function)}(B,{text})", item.last, function.result)

    def equality(self, function: Function, command: Node, codes: list[Code]) -> Code | None:
        """Equality with one literal string needs no call when the other side is a string."""
        if len(codes) != 2 or codes[1].literal is None:
            return None
        first, second = codes
        sign = "==" if function.name == "eq" else "!="
        mark = self.scope.mark(second.last, command, function.name)
        slow = f"{mark}{self.unit.name_function(function)}(B,t,{second.text})"
        text = f"(t{sign}{second.text} if type(t:={first.text}) is str else{slow})"
        return Code(text, second.last, function.result)

    def formatting(self, _function: Function, command: Node, codes: list[Code]) -> Code | None:
        """A literal format with nothing but bare %s, %d and %v is put together without reading it again."""
        from steward.gotemplate.fmt.directives import simple_parts

        parts = None if codes[0].literal is None else simple_parts(codes[0].literal)
        if parts is None or len(parts) != 2 * len(codes) - 1 or len(codes) == 1:
            return None
        texts = [repr(part) for part in parts]
        for at, code in enumerate(codes[1:]):
            mark = self.scope.mark(code.last, command, "printf")
            texts[2 * at + 1] = _PLAIN_FORMS[parts[2 * at + 1]].format(code.text, mark)
        joined = ",".join(text for text in texts if text != "''")
        text = f"(t if len(t:=''.join(({joined},)))<256 and t.isascii() else Pf(t,B))"
        return Code(text, codes[-1].last, STRING)

    def callee(self, command: Node, codes: list[Code]) -> str:
        args = getattr(command, "args", [])[1:]
        return repr(str(args[0])) if args and codes else "None"

    def charged(self, function: Function, command: Node, code: Code) -> Code:
        """What a function builds without asking its budget is charged after it."""
        if function.budgeted:
            return code
        if function.result is STRING:
            code.text = f"(t if len(t:={code.text})<256 else{self.scope.mark(code.last, command, function.name)}Q(t,B))"
            code.charged = True
        elif function.result.kind in ("slice", "map"):
            code.text = f"(t if len(t:={code.text})<32 else{self.scope.mark(code.last, command, function.name)}Ql(t,B))"
        elif function.result is ANY and function.name not in PASSING:
            code.text = f"{self.scope.mark(code.last, command, function.name)}Qa({code.text},B)"
        return code

    def logic(self, word: Identifier, args: list[Node], final: Code | None, context: Context) -> Code:
        """Python's own `and` and `or` are Go's: they stop early and give the operand."""
        track = context.track
        codes = [self.operand_of_logic(at, arg, context) for at, arg in enumerate(args)]
        last: Last = codes[-1].last if codes else word
        texts = [code.text for code in codes]
        if track is not None and len(codes) > 1:
            texts = [self.noted(code, track) for code in codes]
            last = track
        if final is None:
            return Code(f"({f' {word.name} '.join(texts)})", last)
        local = self.unit.fresh("p")
        operands = f" {word.name} ".join([*texts, local])
        return Code(f"({local}:={final.text},({operands}))[1]", last)

    def operand_of_logic(self, at: int, arg: Node, context: Context) -> Code:
        before = self.scope.conditional
        self.scope.conditional = before or at > 0
        code = self.expressions.argument(arg, REFLECT_VALUE, context)
        self.scope.conditional = before
        return code

    def noted(self, code: Code, track: LastOf) -> str:
        """Remember that this operand was the last one visited."""
        if isinstance(code.last, LastOf):
            return code.text
        return f"({track.variable}:={track.number(code.last)},{code.text})[1]"

    def member(
        self, word: Field | Variable | Chain, args: list[Node], final: Code | None, context: Context
    ) -> Code:
        """`.a.b`, `$x.a`, `(f).a`, with the arguments of a method if there are any."""
        receiver = self.receiver(word, context)
        if isinstance(word, Variable) and self.scope.find(word.name) is None:
            return self.expressions.given(final, receiver)
        if not word.names:
            if args or final is not None:
                fault = self.scope.fault(f"can't give argument to non-function {word}", word)
                return self.expressions.given(final, fault)
            return receiver
        if args or final is not None:
            return self.method(receiver, word, args, final, context)
        return self.expressions.fields(receiver, word, word.names, context)

    def receiver(self, word: Field | Variable | Chain, context: Context) -> Code:
        if isinstance(word, Field):
            return self.expressions.dot(word)
        if isinstance(word, Variable):
            return self.expressions.variable(word)
        inner = type(context)(lenient=context.lenient, track=LastOf(self.unit.fresh("l")))
        return self.expressions.chained(word, inner)

    def method(
        self,
        receiver: Code,
        word: Field | Variable | Chain,
        args: list[Node],
        final: Code | None,
        context: Context,
    ) -> Code:
        last = receiver.last if isinstance(word, Chain) else word
        specs = [self.expressions.spec(arg, context) for arg in args]
        operands = "".join(f"{spec.text}," for spec in specs)
        prefix = self.unit.fields_prefix(context.lenient)
        function = self.expressions.by_origin(receiver, f"{prefix}_invoke_held", f"{prefix}_invoke")
        mark = self.expressions.mark_fields(last, word, word.names, receiver)
        local = self.unit.fresh("p")
        passed = "" if final is None else f"(PIPED,lambda:{local}),"
        text = f"{mark}{function}(B,{receiver.text},{tuple(word.names)!r},({operands}{passed}))"
        code = Code(text, specs[-1].last if specs else last)
        return code if final is None else Code(f"({local}:={final.text},{code.text})[1]", code.last)


_INLINE: Final = {
    "eq": Calls.equality,
    "len": Calls.length,
    "ne": Calls.equality,
    "not": Calls.negation,
    "printf": Calls.formatting,
}
_PLAIN_FORMS: Final = {
    "s": "(t if type(t:={0}) is str else{1}Pv(t,'s',B))",
    "v": "(t if type(t:={0}) is str else{1}Pv(t,'v',B))",
    "d": "(str(t) if type(t:={0}) is int else{1}Pv(t,'d',B))",
    "q": "({1}Pv({0},'q',B))",
}


def _wrong_number(function: Function, count: int, piped: bool) -> str:
    given, fixed = count + piped, len(function.params)
    if function.rest is not None:
        if given < fixed:
            return f"wrong number of args for {function.name}: want at least {fixed} got {count}"
    elif given != fixed:
        return f"wrong number of args for {function.name}: want {fixed} got {given}"
    return ""


def _types(function: Function, count: int) -> list[GoType]:
    types = list(function.params[:count])
    if function.rest is not None:
        types += [function.rest] * (count - len(types))
    return types
