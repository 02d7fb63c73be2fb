"""From an exception in generated code to Go's error: which node, which line and column, which words."""

from __future__ import annotations

from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

from steward.gotemplate.compile.code import Generated, Last, LastOf, Operation
from steward.gotemplate.errors import BudgetExceeded, ExecError, GoError, OverBudget, TemplateError
from steward.gotemplate.evaluation.runtime_errors import CallFault, Fault, FieldFault
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.syntax.nodes import Node
from steward.gotemplate.values.values import ANY, byte_length, type_of


class _Place(NamedTuple):
    operation: Operation
    frame: FrameType
    is_innermost: bool


def line_and_column(source: str, pos: int) -> tuple[int, int]:
    """The line from 1, and the byte in it from 0."""
    start = source.rfind("\n", 0, pos) + 1
    return 1 + source.count("\n", 0, pos), byte_length(source[start:pos])


def explain_exception(error: Exception, generated: Generated) -> TemplateError:
    made = _explained(error, generated)
    made.source = generated.source
    return made


def _explained(error: Exception, generated: Generated) -> TemplateError:
    kind = BudgetExceeded if isinstance(error, OverBudget | RecursionError | MemoryError) else ExecError
    place = _find(error.__traceback__, generated)
    if place is None:
        return kind(f"template: {generated.name}: {_words(error)}")
    node, text = _node_and_text(error, place)
    line, column = line_and_column(generated.source, node.pos)
    where = f"{generated.name}:{line}:{column}: executing {quote(place.operation.template)} at <{node}>"
    return kind(f"template: {where}: {text}", line, column)


def _find(traceback: TracebackType | None, generated: Generated) -> _Place | None:
    """The deepest frame of the generated module, and what its line does."""
    found = None
    while traceback is not None:
        code: CodeType = traceback.tb_frame.f_code
        if code.co_filename == generated.filename:
            operation = generated.lines.get(traceback.tb_lineno)
            if operation is not None:
                found = _Place(operation, traceback.tb_frame, traceback.tb_next is None)
        traceback = traceback.tb_next
    return found


def _node_and_text(error: Exception, place: _Place) -> tuple[Node, str]:
    operation, frame, is_innermost = place
    last = _last_node(operation.last, frame)
    call = operation.call or last
    if isinstance(error, Fault):
        node = error.node or (call if isinstance(error, CallFault) else last)
        return node, _fault_text(error, operation, frame)
    if isinstance(error, GoError):
        return call, f"error calling {operation.name}: {error.text}"
    if isinstance(error, KeyError) and is_innermost:
        return last, f"map has no entry for key {quote(operation.name)}"
    if isinstance(error, NameError) and is_innermost:
        return last, f"undefined variable: {operation.name}"
    return call, _words(error)


def _fault_text(error: Fault, operation: Operation, frame: FrameType) -> str:
    if isinstance(error, FieldFault) and operation.container:
        container = frame.f_locals.get(operation.container)
        found = type_of(container)
        if found is not None and found.elem is not ANY:
            return error.concrete
    return error.text


def _last_node(last: Last, frame: FrameType) -> Node:
    if isinstance(last, LastOf):
        return last.nodes[frame.f_locals.get(last.variable, 0)]
    return last


def _words(error: Exception) -> str:
    if isinstance(error, OverBudget | GoError | Fault):
        return str(error)
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, MemoryError):
        return "out of memory"
    return f"internal error: {type(error).__name__}: {error}"
