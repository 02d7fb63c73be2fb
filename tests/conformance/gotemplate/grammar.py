"""Random templates that mostly make sense. Same seed, same template: everything is drawn from the one Random given."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .case import Case
from .invent import invent
from .signatures import BY_KIND, SIGNATURES, Signature
from .words import LITERALS, METHODS, MUTATIONS, PLAIN_KINDS, TEXTS, TOKENS, data_value, random_format

_NAMES = ["s", "t", "n", "f", "b", "l", "m", "d"]
_WRONG = 0.05
_EXACT = {"when", "small", "dur", "scalar", "fresh"}
_MODES = ["error"] * 5 + ["default"] * 3 + ["zero"] * 2


@dataclass(slots=True)
class Scope:
    """What is in reach at one place of a template: variables with their kinds, and the kind of the dot."""

    dot: Any
    variables: list[tuple[str, str]] = field(default_factory=list)
    loops: int = 0

    def inner(self, dot: Any, loops: int) -> Scope:
        return Scope(dot, list(self.variables), loops)


class Writer:
    """Writes one template over one data value."""

    def __init__(self, rng: random.Random, data: Any) -> None:
        self.rng = rng
        self.data = data
        self.counter = 0
        self.blocks = 0
        self.defined = rng.choice([0, 0, 0, 1, 2])

    def template(self) -> str:
        scope = Scope(self.data)
        body = self.block(scope, self.rng.choice([1, 2, 2, 3]))
        for number in range(self.defined):
            # A template calls only those after it: none calls itself, so every run ends.
            self.counter = 100 * (number + 1)
            body += f'{{{{define "t{number}"}}}}{self.block(Scope(None), 1, number + 1)}{{{{end}}}}'
        return body

    def block(self, scope: Scope, depth: int, first_call: int = 0) -> str:
        count = self.rng.choice([1, 1, 2, 2, 3, 4]) if depth else 1
        return "".join(self.node(scope, depth, first_call) for _ in range(count))

    def node(self, scope: Scope, depth: int, first_call: int) -> str:
        roll = self.rng.random()
        if roll < 0.2:
            return self.rng.choice(TEXTS)
        if roll < 0.62 or depth == 0:
            return self.action(self.pipeline(self.any_kind(), scope, self.rng.choice([1, 2, 2, 3])))
        if roll < 0.72:
            return self.declaration(scope)
        if roll < 0.75 and first_call < self.defined:
            name = self.rng.randrange(first_call, self.defined)
            return self.action(f'template "t{name}" {self.expression("any", scope, 1)}')
        if roll < 0.78 and scope.loops:
            return self.leave_loop(scope)
        if roll < 0.785:
            return self.block_with_name(scope, depth)
        writer: Callable[[Scope, int, int], str] = self.rng.choice(
            [self.conditional, self.range_over, self.with_value]
        )
        return writer(scope, depth - 1, first_call)

    def block_with_name(self, scope: Scope, depth: int) -> str:
        self.blocks += 1
        head = self.action(f'block "b{self.blocks}" {self.expression("any", scope, 1)}')
        return head + self.block(Scope(None), depth - 1, self.defined) + self.action("end")

    def leave_loop(self, scope: Scope) -> str:
        word = self.rng.choice(["break", "continue"])
        return self.action(f"if {self.pipeline('bool', scope, 1)}") + self.action(word) + self.action("end")

    def declaration(self, scope: Scope) -> str:
        kind = self.any_kind()
        value = self.pipeline(kind, scope, 2)
        if scope.variables and self.rng.random() < 0.3:
            name, _ = self.rng.choice(scope.variables)
            return self.action(f"{name} = {value}")
        name = self.new_variable()
        scope.variables.append((name, kind))
        return self.action(f"{name} := {value}")

    def conditional(self, scope: Scope, depth: int, first_call: int) -> str:
        parts = [
            self.action(f"if {self.pipeline('bool', scope, 2)}"),
            self.block(scope.inner(scope.dot, scope.loops), depth, first_call),
        ]
        while self.rng.random() < 0.3:
            parts += [self.action(f"else if {self.pipeline(self.any_kind(), scope, 1)}")]
            parts += [self.block(scope.inner(scope.dot, scope.loops), depth, first_call)]
        return "".join(parts) + self.otherwise(scope, depth, first_call)

    def with_value(self, scope: Scope, depth: int, first_call: int) -> str:
        inner = scope.inner(None, scope.loops)
        kind = self.rng.choice(["dict", "str", "list", "any"])
        head = self.pipeline(kind, scope, 1)
        if self.rng.random() < 0.3:
            name = self.new_variable()
            inner.variables.append((name, kind))
            head = f"{name} := {head}"
        middle = ""
        if self.rng.random() < 0.2:
            other = scope.inner(None, scope.loops)
            middle = self.action(f"else with {self.pipeline('any', scope, 1)}") + self.block(
                other, depth, first_call
            )
        body = self.block(inner, depth, first_call)
        return self.action(f"with {head}") + body + middle + self.otherwise(scope, depth, first_call)

    def range_over(self, scope: Scope, depth: int, first_call: int) -> str:
        inner = scope.inner(None, scope.loops + 1)
        kind = self.rng.choice(["list", "strs", "ints", "dict", "smap", "seq", "small", "small"])
        head = self.pipeline(kind, scope, 1)
        names = [self.new_variable() for _ in range(self.rng.choice([0, 0, 1, 2]))]
        inner.variables += [(name, "any") for name in names]
        if names:
            head = f"{', '.join(names)} := {head}"
        return (
            self.action(f"range {head}")
            + self.block(inner, depth, first_call)
            + self.otherwise(scope, depth, first_call)
        )

    def otherwise(self, scope: Scope, depth: int, first_call: int) -> str:
        if self.rng.random() < 0.35:
            body = self.block(scope.inner(scope.dot, scope.loops), depth, first_call)
            return self.action("else") + body + self.action("end")
        return self.action("end")

    def action(self, body: str) -> str:
        left = self.rng.choice(["{{", "{{", "{{ ", "{{ ", "{{ ", "{{- ", "{{-\n"])
        right = self.rng.choice(["}}", "}}", " }}", " }}", " }}", " -}}", "\n-}}"])
        if left == "{{" and body.startswith("/"):
            left = "{{ "
        return left + body + right

    def pipeline(self, kind: str, scope: Scope, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.55:
            return self.expression(kind, scope, depth, bare=True)
        signature = self.function(kind)
        if signature is None or not (signature.places or signature.repeats):
            return self.expression(kind, scope, depth, bare=True)
        *front, last = self.kinds_of(signature)
        words = [signature.name, *(self.expression(k, scope, depth - 1) for k in front)]
        return f"{self.pipeline(last, scope, depth - 1)} | {' '.join(words)}"

    def expression(self, kind: str, scope: Scope, depth: int, bare: bool = False) -> str:
        if self.rng.random() < _WRONG and kind not in _EXACT:
            kind = self.any_kind()
        if kind == "any" and self.rng.random() < 0.06:
            return self.wrapped(self.member(scope, depth), bare)
        if depth > 0 and self.rng.random() < 0.6 and (signature := self.function(kind)):
            return self.wrapped(self.call(signature, scope, depth - 1), bare)
        if depth > 1 and self.rng.random() < 0.1:
            return f"({self.pipeline(kind, scope, depth - 1)})"
        return self.leaf(kind, scope)

    def wrapped(self, words: str, bare: bool) -> str:
        return words if bare or " " not in words else f"({words})"

    def call(self, signature: Signature, scope: Scope, depth: int) -> str:
        kinds = self.kinds_of(signature)
        if self.rng.random() < 0.02:
            kinds = kinds[:-1] if self.rng.random() < 0.5 else [*kinds, "any"]
        return " ".join([signature.name, *(self.expression(k, scope, depth) for k in kinds)])

    def kinds_of(self, signature: Signature) -> list[str]:
        kinds = list(signature.places)
        if signature.repeats:
            kinds += [signature.repeats] * self.rng.choice([1, 1, 2, 3])
        return kinds

    def function(self, kind: str) -> Signature | None:
        options = BY_KIND.get(kind)
        return self.rng.choice(options) if options else None

    def member(self, scope: Scope, depth: int) -> str:
        """A field or method of a value in parentheses."""
        kind = self.rng.choice(list(METHODS))
        value = self.pipeline(kind, scope, depth)
        return f"({value}).{self.rng.choice(METHODS[kind])}"

    def leaf(self, kind: str, scope: Scope) -> str:
        roll = self.rng.random()
        if kind == "format" and roll < 0.6:
            return random_format(self.rng)
        if roll < 0.2 and (variable := self.variable(kind, scope)):
            return variable
        if roll < 0.6 and kind in PLAIN_KINDS and (found := self.reach(kind, scope)):
            return found
        if kind == "scalar":
            kind = self.rng.choice(["str", "int", "float", "bool"])
        elif kind not in LITERALS:
            kind = self.rng.choice([k for k in PLAIN_KINDS if k in LITERALS])
        made = invent(kind, self.rng) if self.rng.random() < 0.4 else None
        return made or self.rng.choice(LITERALS[kind])

    def variable(self, kind: str, scope: Scope) -> str | None:
        # `any` may be anything, so it stands only where anything may: a huge number in a `small` place would hurt.
        fits = [
            name
            for name, k in scope.variables
            if kind in {k, "any"} or (k == "any" and kind in {"str", "dict", "seq"})
        ]
        return self.rng.choice(fits) if fits else None

    def reach(self, kind: str, scope: Scope) -> str | None:
        """A field chain to a value of the kind, from the dot or from the root; at times to none."""
        if self.rng.random() < 0.06:
            return self.rng.choice([".nope", "$.m.nope", ".m.nope.x", "$.s.x", ".", "$"])
        root, prefix = (
            (self.data, "$") if scope.dot is not self.data or self.rng.random() < 0.2 else (self.data, "")
        )
        chains = [
            c
            for c, k in _chains(root)
            if kind in (k, "any") or (kind, k) in {("num", "float"), ("seq", "list"), ("scalar", "str")}
        ]
        if not chains:
            return None
        return prefix + self.rng.choice(chains)

    def any_kind(self) -> str:
        return self.rng.choice(PLAIN_KINDS)

    def new_variable(self) -> str:
        self.counter += 1
        return f"$v{self.counter}"


def _chains(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    found = []
    for key, item in value.items() if isinstance(value, dict) else ():
        chain = f"{prefix}.{key}"
        found.append((chain, _kind_of(item)))
        if isinstance(item, dict):
            found += _chains(item, chain)
    return found


def _kind_of(value: Any) -> str:
    kinds = {str: "str", bool: "bool", int: "float", float: "float", list: "list", dict: "dict"}
    return kinds.get(type(value), "nil")


def mutate(rng: random.Random, source: str) -> str:
    """Breaks syntax: cut, double, swap, or slip in a token."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        a = rng.randrange(len(source) + 1)
        b = min(len(source), a + rng.choice([1, 1, 2, 5, 10]))
        source = rng.choice(
            [
                source[:a] + source[b:],
                source[:b] + source[a:],
                source[:a] + rng.choice(MUTATIONS) + source[a:],
                source[:a] + rng.choice(MUTATIONS) + source[b:],
                source[:a] + source[a:b][::-1] + source[b:],
                source[:b],
            ]
        )
    return source


def soup(rng: random.Random) -> str:
    """Tokens in any order: nearly always wrong, and each in its own way."""
    parts = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        words = [
            rng.choice(TOKENS) + rng.choice(["", " ", " ", "\n"]) for _ in range(rng.choice([1, 2, 3, 4, 6]))
        ]
        parts += [
            rng.choice(TEXTS),
            rng.choice(["{{", "{{ ", "{{- "]),
            *words,
            rng.choice(["}}", " }}", " -}}", ""]),
        ]
    return "".join(parts)


def pair(seed: int, number: int, fixed: Any = None) -> Case:
    """The n-th pair of a seed; `fixed` takes the place of random data."""
    rng = random.Random(f"{seed}/{number}")
    data = fixed if fixed is not None else random_data(rng)
    roll = rng.random()
    source = soup(rng) if roll < 0.06 else Writer(rng, data).template()
    if roll > 0.9:
        source = mutate(rng, source)
    opts = (("missingkey", rng.choice(_MODES)),)
    text = None if fixed is not None else json.dumps(data, ensure_ascii=False)
    return Case("fuzz", source, text, opts)


def random_data(rng: random.Random) -> Any:
    if rng.random() < 0.02:
        return data_value(rng, 1)
    return {name: data_value(rng, 2, name) for name in _NAMES if rng.random() < 0.9}


def names_covered() -> set[str]:
    return {signature.name for signature in SIGNATURES}
