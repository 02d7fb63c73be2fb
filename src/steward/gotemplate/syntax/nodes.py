"""The parse tree. str() of a node is the template text in Go's normalised form: errors quote it.

`pos` counts characters from the start of the source; lines and byte columns are worked out only for an error.
"""

from __future__ import annotations

from steward.gotemplate.golang.quote import quote
from steward.gotemplate.golang.unicode import SPACES


class Node:
    __slots__ = ("pos",)

    def __init__(self, pos: int) -> None:
        self.pos = pos


class Text(Node):
    __slots__ = ("text",)

    def __init__(self, pos: int, text: str) -> None:
        self.pos = pos
        self.text = text

    def __str__(self) -> str:
        return self.text


class Dot(Node):
    __slots__ = ()

    def __str__(self) -> str:
        return "."


class Nil(Node):
    __slots__ = ()

    def __str__(self) -> str:
        return "nil"


class Bool(Node):
    __slots__ = ("value",)

    def __init__(self, pos: int, value: bool) -> None:
        self.pos = pos
        self.value = value

    def __str__(self) -> str:
        return "true" if self.value else "false"


class String(Node):
    __slots__ = ("quoted", "text")

    def __init__(self, pos: int, quoted: str, text: str) -> None:
        self.pos = pos
        self.quoted = quoted
        self.text = text

    def __str__(self) -> str:
        return self.quoted


class Number(Node):
    """A number may be several things at once: `1.0` is a float64, and an int where an int is wanted."""

    __slots__ = ("as_complex", "as_float", "as_int", "as_uint", "text")

    def __init__(self, pos: int, text: str) -> None:
        self.pos = pos
        self.text = text
        self.as_int: int | None = None
        self.as_uint: int | None = None
        self.as_float: float | None = None
        self.as_complex: complex | None = None

    def __str__(self) -> str:
        return self.text


class Identifier(Node):
    __slots__ = ("name",)

    def __init__(self, pos: int, name: str) -> None:
        self.pos = pos
        self.name = name

    def __str__(self) -> str:
        return self.name


class Field(Node):
    __slots__ = ("names",)

    def __init__(self, pos: int, names: list[str]) -> None:
        self.pos = pos
        self.names = names

    def __str__(self) -> str:
        return "." + ".".join(self.names)


class Variable(Node):
    """`$x.a.b`: `name` is `$x`, `names` are the fields after it."""

    __slots__ = ("name", "names")

    def __init__(self, pos: int, name: str, names: list[str]) -> None:
        self.pos = pos
        self.name = name
        self.names = names

    def __str__(self) -> str:
        return ".".join((self.name, *self.names))


class Chain(Node):
    """Fields of something that is neither dot nor a variable: `(f x).a.b`, `now.Year`."""

    __slots__ = ("names", "node")

    def __init__(self, pos: int, node: Node, names: list[str]) -> None:
        self.pos = pos
        self.node = node
        self.names = names

    def __str__(self) -> str:
        return ".".join((_operand(self.node), *self.names))


class Command(Node):
    __slots__ = ("args",)

    def __init__(self, pos: int, args: list[Node]) -> None:
        self.pos = pos
        self.args = args

    def __str__(self) -> str:
        return " ".join(map(_operand, self.args))


class Pipe(Node):
    __slots__ = ("assigns", "commands", "variables")

    def __init__(self, pos: int) -> None:
        self.pos = pos
        self.variables: list[Variable] = []
        self.assigns = False
        self.commands: list[Command] = []

    def __str__(self) -> str:
        commands = " | ".join(map(str, self.commands))
        if not self.variables:
            return commands
        sign = "=" if self.assigns else ":="
        return f"{', '.join(map(str, self.variables))} {sign} {commands}"


class Action(Node):
    __slots__ = ("pipe",)

    def __init__(self, pos: int, pipe: Pipe) -> None:
        self.pos = pos
        self.pipe = pipe

    def __str__(self) -> str:
        return f"{{{{{self.pipe}}}}}"


class Block(Node):
    """A run of nodes: a template's body, or a branch of a control structure."""

    __slots__ = ("nodes",)

    def __init__(self, pos: int) -> None:
        self.pos = pos
        self.nodes: list[Node] = []

    def __str__(self) -> str:
        return "".join(map(str, self.nodes))


class Branch(Node):
    """`if`, `with` or `range`, by `word`."""

    __slots__ = ("body", "otherwise", "pipe", "word")

    def __init__(self, word: str, pipe: Pipe, body: Block, otherwise: Block | None) -> None:
        self.pos = pipe.pos
        self.word = word
        self.pipe = pipe
        self.body = body
        self.otherwise = otherwise

    def __str__(self) -> str:
        tail = "" if self.otherwise is None else f"{{{{else}}}}{self.otherwise}"
        return f"{{{{{self.word} {self.pipe}}}}}{self.body}{tail}{{{{end}}}}"


class Jump(Node):
    """`break` or `continue`."""

    __slots__ = ("word",)

    def __init__(self, pos: int, word: str) -> None:
        self.pos = pos
        self.word = word

    def __str__(self) -> str:
        return f"{{{{{self.word}}}}}"


class Invocation(Node):
    """`{{template "name" pipeline}}`; a block is one too, after its definition has been taken out."""

    __slots__ = ("name", "pipe")

    def __init__(self, pos: int, name: str, pipe: Pipe | None) -> None:
        self.pos = pos
        self.name = name
        self.pipe = pipe

    def __str__(self) -> str:
        pipe = "" if self.pipe is None else f" {self.pipe}"
        return f"{{{{template {quote(self.name)}{pipe}}}}}"


def _operand(node: Node) -> str:
    return f"({node})" if isinstance(node, Pipe) else str(node)


def is_blank(block: Block) -> bool:
    """True if a body holds nothing but white space: such a definition gives way to another of its name."""
    return all(isinstance(node, Text) and not node.text.strip(SPACES) for node in block.nodes)
