"""Pieces of generated Python, and the record of what each of its lines does.

Every operation that can fail starts a line of its own, so the line number in a traceback identifies it; the
record then gives the node that Go would name.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from steward.gotemplate.syntax.nodes import Node
from steward.gotemplate.values.values import GoType

MARK: Final = "\0"


class LastOf:
    """The node visited last, where only the run knows it (`or` stops early): a local variable holds its number."""

    __slots__ = ("nodes", "variable")

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self.nodes: dict[int, Node] = {}

    def number(self, node: Node) -> int:
        self.nodes[len(self.nodes)] = node
        return len(self.nodes) - 1


Last = Node | LastOf


class Code:
    """A Python expression for a Go value.

    kind:      its static type, if that is known
    held:      '' if its static type is not interface{}, '1' if it is, else the local variable that says so
    container: the local variable with the list that a range element came from
    last:      the node that Go visits last when it evaluates this
    safe:      evaluating it cannot fail and changes nothing, so its place in the order does not matter
    literal:   the string, if it is a literal one
    charged:   a long string has been charged for where it was made
    """

    __slots__ = ("charged", "container", "held", "kind", "last", "literal", "safe", "text")

    def __init__(self, text: str, last: Last, kind: GoType | None = None) -> None:
        self.text = text
        self.last = last
        self.kind = kind
        self.held = ""
        self.container = ""
        self.safe = False
        self.literal: str | None = None
        self.charged = False


class Operation:
    """What a line of generated code does: where its errors are, and what it calls."""

    __slots__ = ("call", "container", "last", "name", "template")

    def __init__(self, template: str, last: Last, call: Node | None, name: str) -> None:
        self.template = template
        self.last = last
        self.call = call
        self.name = name
        self.container = ""


class Generated(NamedTuple):
    """What is known of one generated module: enough to explain any exception that leaves it."""

    name: str
    source: str
    filename: str
    lines: dict[int, Operation]


class Record:
    """All operations of one generated module, by line once it is laid out."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def mark(self, operation: Operation) -> str:
        """Starts a line; goes before the text of the operation."""
        self.operations.append(operation)
        return f"\n{MARK}{len(self.operations) - 1}{MARK}"

    def lay_out(self, marked: str) -> tuple[str, dict[int, Operation]]:
        """The source without marks, and the operation of each line."""
        parts = marked.split(MARK)
        lines: dict[int, Operation] = {}
        line = 1 + parts[0].count("\n")
        for number, text in zip(parts[1::2], parts[2::2], strict=True):
            lines[line] = self.operations[int(number)]
            line += text.count("\n")
        return "".join(parts[::2]), lines
