"""Sprintf's format strings: flags, `*`, `[n]`, and what fmt writes for each mistake in them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from steward.gotemplate.budget import Budget
from steward.gotemplate.fmt.formats import PLAIN, Flags
from steward.gotemplate.fmt.printing import Printer, show
from steward.gotemplate.values.values import Value, canonical, type_of

TOO_LARGE: Final = 1_000_000
_FLAGS: Final = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}
_SIMPLE: Final = frozenset("sdvq")


def run_format(template: str, args: Sequence[Value], budget: Budget | None) -> str:
    simple = simple_parts(template) if len(template) <= _SHORT else None
    if simple is not None and len(simple) == 2 * len(args) + 1:
        return canonical("".join(_fill(simple, args, budget)))
    return canonical("".join(_Run(template, args, budget).pieces()))


# Formats that people write. A longer one would be taken apart, and remembered, before anything is charged for it.
_SHORT: Final = 1_000


@functools.lru_cache(maxsize=512)
def simple_parts(template: str) -> tuple[str, ...] | None:
    """Text and verbs in turn, if every directive is a bare %s, %d, %v or %q."""
    pieces = template.split("%")
    parts = [pieces[0]]
    for piece in pieces[1:]:
        if piece[:1] not in _SIMPLE or not piece:
            return None
        parts += (piece[0], piece[1:])
    return tuple(parts)


def _fill(parts: tuple[str, ...], args: Sequence[Value], budget: Budget | None) -> list[str]:
    texts = list(parts)
    at = 1
    for arg in args:
        verb = parts[at]
        kind = type(arg)
        if (kind is str and verb in "sv") or (kind is int and verb in "dv"):
            texts[at] = str(arg)
        else:
            texts[at] = Printer(PLAIN, budget).argument(arg, verb)
        at += 2
    return texts


class _Run:
    """One pass over a format. `argument` is the next operand; `[n]` moves it."""

    def __init__(self, template: str, args: Sequence[Value], budget: Budget | None) -> None:
        self.template = template
        self.args = args
        self.budget = budget
        self.pos = 0
        self.argument = 0
        self.good_index = True
        self.after_index = False
        self.reordered = False
        self.flags = Flags()

    def pieces(self) -> list[str]:
        pieces = []
        end = len(self.template)
        while self.pos < end:
            found = self.template.find("%", self.pos)
            if found < 0:
                pieces.append(self.template[self.pos :])
                break
            pieces.append(self.template[self.pos : found])
            self.pos = found + 1
            pieces += self.directive()
        if not self.reordered and self.argument < len(self.args):
            pieces.append(self.extra())
        return pieces

    def extra(self) -> str:
        texts = ["<nil>" if arg is None else self.described(arg) for arg in self.args[self.argument :]]
        return f"%!(EXTRA {', '.join(texts)})"

    def described(self, arg: Value) -> str:
        found = type_of(arg)
        return f"{found.name if found else '<nil>'}={show(arg, self.budget)}"

    def peek(self) -> str:
        return self.template[self.pos : self.pos + 1]

    def directive(self) -> list[str]:
        pieces: list[str] = []
        if self.budget is not None:
            self.budget.work(4)
        self.good_index = True
        self.read_flags()
        self.read_index()
        self.read_width(pieces)
        self.read_precision(pieces)
        if not self.after_index:
            self.read_index()
        verb = self.peek()
        self.pos += 1
        pieces.append(self.operand(verb) if verb else "%!(NOVERB)")
        return pieces

    def read_flags(self) -> None:
        self.flags = Flags()
        self.after_index = False
        while (name := _FLAGS.get(self.peek())) is not None:
            setattr(self.flags, name, True)
            self.pos += 1

    def read_index(self) -> None:
        self.after_index = False
        if self.peek() != "[":
            return
        self.reordered = True
        index, width = self.bracketed()
        self.pos += width
        if index is not None and 0 <= index < len(self.args):
            self.argument = index
            self.after_index = True
            return
        self.good_index = False
        self.after_index = index is not None

    def bracketed(self) -> tuple[int | None, int]:
        """The operand that `[n]` names, counted from 0, and how many characters it takes."""
        close = self.template.find("]", self.pos + 1)
        if len(self.template) - self.pos < 3 or close < 0:
            return None, 1
        digits = self.template[self.pos + 1 : close]
        number = _number(digits)
        return (None if number is None else number - 1), close + 1 - self.pos

    def read_width(self, pieces: list[str]) -> None:
        if self.peek() == "*":
            self.pos += 1
            width = self.integer_operand()
            if width is None:
                pieces.append("%!(BADWIDTH)")
            elif width < 0:
                width, self.flags.minus, self.flags.zero = -width, True, False
            self.flags.width = width
            self.after_index = False
            return
        self.flags.width = self.read_number()
        if self.after_index and self.flags.width is not None:
            self.good_index = False

    def read_number(self) -> int | None:
        start = self.pos
        while "0" <= self.peek() <= "9":
            self.pos += 1
        if self.pos == start:
            return None
        digits = self.template[start : self.pos]
        if _overflows(digits):
            self.pos = len(self.template)
            return None
        return int(digits)

    def read_precision(self, pieces: list[str]) -> None:
        if self.peek() != "." or self.pos + 1 >= len(self.template):
            return
        self.pos += 1
        if self.after_index:
            self.good_index = False
        self.read_index()
        if self.peek() == "*":
            self.pos += 1
            precision = self.integer_operand()
            if precision is None or precision < 0:
                precision = None
                pieces.append("%!(BADPREC)")
            self.flags.precision = precision
            self.after_index = False
            return
        self.flags.precision = self.read_number() or 0

    def integer_operand(self) -> int | None:
        if self.argument >= len(self.args):
            return None
        value = self.args[self.argument]
        self.argument += 1
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > TOO_LARGE:
            return None
        return int(value)

    def operand(self, verb: str) -> str:
        if verb == "%":
            return "%"
        if "\ud800" <= verb <= "\udfff":
            verb = "�"
        if not self.good_index:
            return f"%!{verb}(BADINDEX)"
        if self.argument >= len(self.args):
            return f"%!{verb}(MISSING)"
        flags = self.flags
        if verb in ("v", "w"):
            flags.sharp_v, flags.sharp = flags.sharp, False
            flags.plus_v, flags.plus = flags.plus, False
        value = self.args[self.argument]
        self.argument += 1
        return Printer(flags, self.budget).argument(value, verb)


def _number(digits: str) -> int | None:
    if not digits or not digits.isascii() or not digits.isdigit() or _overflows(digits):
        return None
    return int(digits)


def _overflows(digits: str) -> bool:
    """Go gives up as soon as what it has read exceeds a million and another digit follows."""
    return len(digits) > 7 and int(digits[:-1]) > TOO_LARGE
