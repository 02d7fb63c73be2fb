"""Finds the mutants of a module: one change of one expression each."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Final, NamedTuple

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATIONS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}


class Mutant(NamedTuple):
    line: int
    change: str
    source: str


def find_mutants(source: str) -> list[Mutant]:
    """In the order of the source. Annotations are left alone: they decide nothing."""
    tree = ast.parse(source)
    lines = source.splitlines()
    found = []
    for position, node in enumerate(_expressions(tree)):
        for index, changed in enumerate(_changes(node)):
            line = getattr(node, "lineno", 0)
            change = f"{ast.unparse(node)} → {ast.unparse(changed)}"
            found.append(Mutant(line, change, _with_change(tree, position, index)))
    return [mutant for mutant in found if "# pragma: no mutate" not in lines[mutant.line - 1]]


def _expressions(tree: ast.AST) -> list[ast.expr]:
    skipped = {id(node) for annotation in _annotations(tree) for node in ast.walk(annotation)}
    return [node for node in ast.walk(tree) if isinstance(node, ast.expr) and id(node) not in skipped]


def _annotations(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.returns


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    """What the expression may become. Texts stay: messages are not decisions."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        changed = copy.deepcopy(node)
        changed.ops[0] = _COMPARISONS[type(node.ops[0])]()
        yield changed
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        yield ast.BinOp(node.left, _OPERATIONS[type(node.op)](), node.right)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)


def _with_change(tree: ast.Module, position: int, index: int) -> str:
    """The whole module with the change at this position among its expressions."""
    changed = copy.deepcopy(tree)
    target = _expressions(changed)[position]
    replacement = list(_changes(target))[index]

    class Replacement(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return replacement if node is target else super().visit(node)

    return ast.unparse(ast.fix_missing_locations(Replacement().visit(changed)))
