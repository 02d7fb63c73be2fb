"""How running code says that something is wrong, before anyone has looked up where.

Raised deep in generated code, a fault carries only Go's words; the position comes from the line of generated code
that raised it (see positions.py), so nothing is spent on positions while all goes well.
"""

from __future__ import annotations

from typing import NoReturn

from steward.gotemplate.syntax.nodes import Node


class Fault(Exception):
    """Go's errorf: at the node visited last, unless `node` says otherwise."""

    def __init__(self, text: str, node: Node | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.node = node


class FieldFault(Fault):
    """No such field. Go names the static type: `interface {}` for an element of a list, `string` for one of a []string.

    Generated code knows which list it was: `concrete` is the text for a list whose elements are not interfaces.
    """

    def __init__(self, text: str, concrete: str) -> None:
        super().__init__(text)
        self.concrete = concrete


class CallFault(Fault):
    """A function or method that was called failed: at the node of the call."""


def fail(text: str) -> NoReturn:
    """An error that is certain already when the template is compiled, in the place where Go would meet it."""
    raise Fault(text)
