"""`.Method arg ...`: the receiver's type is known only at run time, so are the types its arguments must have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import BadSignature, GoError
from steward.gotemplate.evaluation.arguments import constant, nil_of, want, want_held
from steward.gotemplate.evaluation.fields import Fields, Step
from steward.gotemplate.evaluation.runtime_errors import CallFault, Fault
from steward.gotemplate.syntax.nodes import Nil, Node
from steward.gotemplate.values.values import GoType, Value, type_of


class Operand:
    """An argument as written, and the node that Go would name if its value does not fit."""

    __slots__ = ("held", "last", "node")

    def __init__(self, node: Node, last: Node, held: str = "") -> None:
        self.node = node
        self.last = last
        self.held = held


PIPED: Final = Operand(Node(0), Node(0))
"""Stands for the piped value among the operands of a call."""

Operands = Sequence[tuple[Operand, Callable[[], Value] | None]]


class Call(NamedTuple):
    """A member's name, with the arguments that it is given."""

    name: str
    operands: Operands
    budget: Budget

    def written(self) -> Operands:
        return [operand for operand in self.operands if operand[0] is not PIPED]


def invoke(fields: Fields, step: Step, call: Call) -> Value:
    """Call the method of that name; anything else that has the name cannot take arguments."""
    value, held = step
    name = call.name
    method = getattr(value, "go_methods", {}).get(name)
    if method is not None:
        return _call(method, value, call)
    if isinstance(value, dict):
        raise Fault(f"{name} is not a method but has arguments")
    found = type_of(value)
    if (
        found is not None
        and found.kind in ("struct", "ptr")
        and name in value.go_fields()
        and name[0].isupper()
    ):
        raise Fault(f"{name} has arguments but cannot be invoked as function")
    return fields.step(value, held, name)[0]


def _call(method: Any, receiver: Value, call: Call) -> Value:
    given, fixed = len(call.operands), len(method.params)
    if method.rest is not None and given < fixed:
        raise Fault(f"wrong number of args for {call.name}: want at least {fixed} got {len(call.written())}")
    if method.rest is None and given != fixed:
        raise Fault(f"wrong number of args for {call.name}: want {fixed} got {given}")
    types = [*method.params, *[method.rest] * (given - fixed)]
    args: list[Value] = [call.budget] if method.budgeted else []
    args.append(receiver)
    last = None
    for operand, wanted in zip(call.operands, types, strict=True):
        args.append(_evaluate(operand, wanted, last))
        last = operand[0].last
    try:
        return method.call(*args)
    except BadSignature as error:
        raise Fault(error.text) from None
    except GoError as error:
        raise CallFault(f"error calling {call.name}: {error.text}") from None


def _evaluate(
    operand: tuple[Operand, Callable[[], Value] | None], wanted: GoType, last: Node | None
) -> Value:
    """An argument of the wanted type. A piped value that is none is an error at the argument before it."""
    described, thunk = operand
    try:
        if thunk is None:
            return _literal(described.node, wanted)
        value = thunk()
    except GoError as error:
        if thunk is not None:
            raise
        raise Fault(error.text, described.node) from None
    try:
        return want_held(value, wanted) if described.held else want(value, wanted)
    except Fault as fault:
        fault.node = last if described is PIPED else described.last
        raise


def _literal(node: Node, wanted: GoType) -> Value:
    if not isinstance(node, Nil):
        return constant(node, wanted)
    if not wanted.nilable:
        raise GoError(f"cannot assign nil to {wanted.name}")
    return nil_of(wanted)
