"""A template's body as the body of a Python function that appends its output to a list."""

from __future__ import annotations

from typing import Final

from steward.gotemplate.compile.code import Code, LastOf
from steward.gotemplate.compile.compilation_unit import Scope, Unit
from steward.gotemplate.compile.expressions import Context, Expressions
from steward.gotemplate.fmt.escaping import printed
from steward.gotemplate.syntax.nodes import (
    Action,
    Block,
    Branch,
    Identifier,
    Invocation,
    Jump,
    Node,
    Pipe,
    Text,
)
from steward.gotemplate.values.values import STRING

_CONDITION: Final = Context(lenient=True)
TYPED_NAMES: Final = frozenset({"int", "float", "bool"})
MAX_JOINED: Final = 64
"""Up to so many pieces a template without control structures is one expression."""


class Statements:
    """Compiles one template. `typed_output`: values of the typed functions are put out as they are, not as text."""

    def __init__(self, unit: Unit, template: str, body: Block, *, typed_output: bool) -> None:
        self.unit = unit
        self.scope = Scope(unit, template, body)
        self.expressions = Expressions(self.scope)
        self.typed_output = typed_output
        self.lines: list[str] = []
        self.pieces: list[str] = []
        self.text = ""
        self.depth = 1
        self.skips = ""
        self.body = body

    def function(self, name: str) -> str:
        """A function for a template that others invoke: it appends to their output and counts against the depth."""
        self.block(self.body)
        self.flush()
        head = [f"def {name}(d0,o,B):", f" B.enter({cost_of(self.body)})", *self.prologue()]
        return "\n".join([*head, *self.lines, " B.depth-=1", ""])

    def root(self, name: str) -> str:
        """The outermost template: gives the list of pieces, or the whole text where that is one expression."""
        self.block(self.body)
        if not self.lines and not self.typed_output and len(self.pieces) < MAX_JOINED:
            result = self.joined()
            lines = [f" return {result}"]
        else:
            self.flush()
            lines = [" o=[]", *self.lines, " return o"]
        head = [f"def {name}(d0,B):", *self.prologue()]
        return "\n".join([*head, *lines, ""])

    def prologue(self) -> list[str]:
        lines = [
            f" {view.upper()}=d0 if type(d0) is dict else {view}_view(d0)"
            for view in sorted(self.scope.views)
        ]
        return [*lines, " v0=d0"] if "$" in self.scope.assigned else lines

    def joined(self) -> str:
        """One expression for all pieces; two or three are added up, which is faster than a join."""
        self.end_text()
        pieces = self.pieces or ["''"]
        if len(pieces) <= 3:
            return f"({'+'.join(pieces)})"
        return f"''.join(({','.join(pieces)},))"

    def emit(self, line: str) -> None:
        self.flush()
        if self.scope.preludes and not line.startswith("el"):
            self.before_statement()
        self.lines.append(" " * self.depth + line)

    def flush(self) -> None:
        """Write out the pieces collected so far as one statement."""
        self.end_text()
        if self.pieces:
            self.lines.append(f"{' ' * self.depth}o+=({','.join(self.pieces)},)")
            self.pieces = []

    def add_text(self, text: str) -> None:
        self.text += text

    def end_text(self) -> None:
        if self.text:
            self.pieces.append(repr(self.text))
            self.text = ""

    def before_statement(self) -> None:
        """What must have happened before the code that was made last is run."""
        self.lines += [" " * self.depth + line for line in self.scope.preludes]
        self.scope.preludes = []

    def add_piece(self, code: str) -> None:
        self.end_text()
        if self.scope.preludes:
            self.flush()
            self.before_statement()
        self.pieces.append(code)

    def block(self, block: Block) -> None:
        for node in block.nodes:
            self.node(node)

    def node(self, node: Node) -> None:
        if isinstance(node, Text):
            self.add_text(node.text)
        elif isinstance(node, Action):
            self.action(node)
        elif isinstance(node, Branch):
            self.range(node) if node.word == "range" else self.conditions(node)
        elif isinstance(node, Invocation):
            self.invocation(node)
        elif isinstance(node, Jump):
            self.jump(node.word)

    def action(self, node: Action) -> None:
        code = self.expressions.pipeline(node.pipe, hoist=self.hoist)
        if node.pipe.variables:
            self.emit(f"({code.text})")
        elif self.typed_output and is_typed(node.pipe):
            self.add_piece(code.text)
        elif code.safe and _is_literal(node.pipe):
            self.add_text(printed(eval(code.text, self.unit.namespace), None))  # type: ignore[arg-type]
        elif code.kind is STRING:
            self.add_piece(code.text)
        else:
            self.add_piece(f"(t if type(t:={code.text}) is str else{self.scope.mark(node, node)}s(t,B))")

    def hoist(self, code: Code) -> Code:
        local = self.unit.fresh("p")
        self.emit(f"{local}=({code.text})")
        return Code(local, code.last, code.kind)

    def conditions(self, node: Branch) -> None:
        """An `if` or `with` and the chain of its else branches."""
        word = "if"
        with self.scope.block():
            while True:
                dot = self.condition(node, word)
                with self.scope.block(dot):
                    self.indented(node.body)
                otherwise = node.otherwise
                if otherwise is None:
                    return
                inner = otherwise.nodes[0] if len(otherwise.nodes) == 1 else None
                if not isinstance(inner, Branch) or inner.word == "range":
                    break
                node, word = inner, "elif"
            self.emit("else:")
            self.indented(otherwise)

    def condition(self, node: Branch, word: str) -> Code | None:
        """Writes the test; for `with`, returns the new dot."""
        code = self.expressions.pipeline(node.pipe, _CONDITION)
        if node.word == "if":
            self.emit(f"{word} ({code.text}):")
            return None
        local = self.unit.fresh("d")
        self.emit(f"{word} ({local}:={code.text}):")
        dot = Code(local, node, code.kind)
        dot.safe = True
        return dot

    def indented(self, block: Block) -> None:
        self.flush()
        self.depth += 1
        before = len(self.lines)
        with self.scope.block():
            self.block(block)
        self.flush()
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    def range(self, node: Branch) -> None:
        with self.scope.block():
            track = LastOf(self.unit.fresh("l"))
            code = self.expressions.value(node.pipe, Context(track=track))
            container, turns = self.unit.fresh("r"), self.unit.fresh("q")
            self.emit(f"{container}=({code.text})")
            loop = _Loop(self, node, container)
            targets = loop.declare(code)
            breaks = _has_break(node.body)
            cost = 0 if breaks else cost_of(node.body)
            iterate = "I2" if len(node.pipe.variables) > 1 else "I1"
            self.emit(f"{turns}=({self.scope.mark(code.last)}{iterate}({container},B,{cost}))")
            self.emit(f"for {targets} in {turns}:")
            with self.scope.block(loop.dot):
                self.depth += 1
                if breaks:
                    self.emit(f"B.work({cost_of(node.body)})")
                loop.flags()
                self.depth -= 1
                before, self.skips = self.skips, ""
                self.indented(node.body)
                self.skips = before
            if node.otherwise is not None:
                self.emit(f"if not {turns}:")
                self.otherwise(node.otherwise)

    def otherwise(self, block: Block) -> None:
        """The else of a range. A `break` in it ends that range, a `continue` goes to the range around it."""
        if not _has_break(block):
            self.indented(block)
            return
        skips = self.unit.fresh("c")
        before, self.skips = self.skips, skips
        self.depth += 1
        self.emit(f"{skips}=False")
        self.emit("while True:")
        self.indented(block)
        self.lines.append(" " * (self.depth + 1) + "break")
        self.emit(f"if {skips}: continue")
        self.depth -= 1
        self.skips = before

    def jump(self, word: str) -> None:
        if word == "continue" and self.skips:
            self.emit(f"{self.skips}=True")
            word = "break"
        self.emit(word)

    def invocation(self, node: Invocation) -> None:
        target = self.unit.template_locals.get(node.name)
        if target is None:
            fault = self.scope.fault(f"template {quoted(node.name)} not defined", node)
            self.emit(f"({fault.text})")
            return
        text = "None" if node.pipe is None else self.expressions.pipeline(node.pipe).text
        self.emit(f"({self.scope.mark(node, node)}{target}({text},o,B))")


class _Loop:
    """The variables of one range: where the element and the index go."""

    def __init__(self, statements: Statements, node: Branch, container: str) -> None:
        self.scope = statements.scope
        self.statements = statements
        self.pipe = node.pipe
        self.container = container
        self.element = statements.unit.fresh("d")
        self.dot = Code(self.element, node)
        self.dot.held, self.dot.container, self.dot.safe = "1", container, True
        self.has_else = node.otherwise is not None
        self.set_flags: list[str] = []

    def declare(self, value: Code) -> str:
        """Declares or finds the variables; returns the targets of the for statement."""
        targets = [self.target(variable.name, value) for variable in self.pipe.variables]
        if not targets:
            return self.element
        if len(targets) == 1:
            self.set_flags.append(f"{targets[0]}={self.element}")
            return self.element
        self.set_flags.append(f"{targets[1]}={self.element}")
        return f"{targets[0]},{self.element}"

    def target(self, name: str, value: Code) -> str:
        is_element = name == self.pipe.variables[-1].name
        found = self.scope.find(name) if self.pipe.assigns else self.scope.declare(name)
        if found is None:
            fault = self.scope.fault(f"undefined variable: {name}", value.last)
            self.statements.emit(f"({fault.text})")
            return self.statements.unit.fresh("v")
        if found.held and found.held != "1":
            self.set_flags.append(f"{found.held}={is_element}")
        elif is_element:
            found.held, found.container = "1", self.container
        if self.has_else or self.pipe.assigns:
            self.statements.emit(f"{found.local}={self.container}")
        return found.local

    def flags(self) -> None:
        for line in self.set_flags:
            self.statements.emit(line)


def quoted(name: str) -> str:
    from steward.gotemplate.golang.quote import quote

    return quote(name)


def is_typed(pipe: Pipe) -> bool:
    """Whether a pipeline's value comes from one of the typed functions."""
    word = pipe.commands[-1].args[0]
    if isinstance(word, Pipe) and len(pipe.commands) == 1:
        return is_typed(word)
    return isinstance(word, Identifier) and word.name in TYPED_NAMES


def _is_literal(pipe: Pipe) -> bool:
    word = pipe.commands[0].args[0]
    return (
        len(pipe.commands) == 1
        and not isinstance(word, Pipe)
        and hasattr(word, "text") | hasattr(word, "value")
    )


def _has_break(block: Block) -> bool:
    """Whether a loop may end early: then its turns are charged one by one, not all before the first."""
    for node in block.nodes:
        if isinstance(node, Jump) and node.word == "break":
            return True
        if isinstance(node, Branch) and node.word != "range":
            if _has_break(node.body) or (node.otherwise is not None and _has_break(node.otherwise)):
                return True
        elif isinstance(node, Branch) and node.otherwise is not None and _has_break(node.otherwise):
            return True
    return False


def cost_of(block: Block) -> int:
    """Steps that one run of a block takes at most, without the turns of loops inside it."""
    cost = 1
    for node in block.nodes:
        cost += 1
        if isinstance(node, Branch):
            inner = 0 if node.word == "range" else cost_of(node.body)
            cost += inner + (0 if node.otherwise is None else cost_of(node.otherwise))
        elif isinstance(node, Action):
            cost += len(node.pipe.commands)
    return cost
