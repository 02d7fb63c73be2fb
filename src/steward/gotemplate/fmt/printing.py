"""Go's fmt over template values: Sprint, Sprintln, Sprintf, and the one-value form that actions print.

Maps print in key order, nested values by the same verb, mistakes as fmt prints them (`%!d(string=x)`): printing
never fails, except by its budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import OverBudget
from steward.gotemplate.fmt.formats import (
    PLAIN,
    Flags,
    format_bytes,
    format_complex,
    format_integer,
    format_number,
    format_string,
    pad,
)
from steward.gotemplate.values.numbers import show_float
from steward.gotemplate.values.values import (
    ByteSlice,
    Float32,
    Int,
    Int64,
    Value,
    canonical,
    is_nil,
    sorted_keys,
    type_of,
)

MAX_DEPTH: Final = 100
_STRING_VERBS: Final = frozenset("vsxXq")


def show(value: Value, budget: Budget | None = None) -> str:
    """`%v` of one value: what Sprint makes of it."""
    kind = type(value)
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind is float:
        return show_float(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if value is None:
        return "<nil>"
    if kind is list or kind is dict:
        return _show_nested(value, budget, 0)
    if kind is Int64:
        return str(int(value))
    return Printer(PLAIN, budget).argument(value, "v")


def _show_nested(value: Value, budget: Budget | None, depth: int) -> str:
    """A plain list or map, without the handling of flags that are not set."""
    if depth > MAX_DEPTH:
        raise OverBudget(f"prints values nested deeper than {MAX_DEPTH}")
    if budget is not None:
        budget.work(2 * len(value))
    if type(value) is list:
        return f"[{' '.join([_show_item(item, budget, depth) for item in value])}]"
    texts = [f"{key}:{_show_item(value[key], budget, depth)}" for key in sorted_keys(value)]
    return f"map[{' '.join(texts)}]"


def _show_item(item: Value, budget: Budget | None, depth: int) -> str:
    if type(item) is list or type(item) is dict:
        return _show_nested(item, budget, depth + 1)
    if hasattr(item, "go_type"):
        return Printer(PLAIN, budget).element(item, "v", depth)
    return show(item, budget)


format_value = show


def sprint(args: Iterable[Value], budget: Budget | None = None) -> str:
    """Spaces only between two operands that are both no strings."""
    pieces: list[str] = []
    after_string = True
    for arg in args:
        is_string = type(arg) is str
        if not is_string and not after_string:
            pieces.append(" ")
        pieces.append(show(arg, budget))
        after_string = is_string
    return canonical("".join(pieces))


def sprintln(args: Iterable[Value], budget: Budget | None = None) -> str:
    return canonical(" ".join([show(arg, budget) for arg in args]) + "\n")


class Printer:
    """Prints values under one directive's flags."""

    __slots__ = ("budget", "erroring", "flags")

    def __init__(self, flags: Flags, budget: Budget | None) -> None:
        self.flags = flags
        self.budget = budget
        self.erroring = False

    def argument(self, value: Value, verb: str) -> str:
        """An operand of Sprintf: the only place where %T and %p mean something."""
        if value is None:
            return pad("<nil>", self.flags, self.budget) if verb in "vT" else f"%!{verb}(<nil>)"
        if verb == "T":
            name = _type_name(value)
            return format_string(name, "s", self.flags, self.budget) or ""
        if verb == "p":
            return self.pointer(value, "p")
        if verb == "w":
            return self.bad_verb(value, verb)
        if type(value) is ByteSlice:
            return self.bytes(value, verb)
        return self.value(value, verb, 0)

    def bad_verb(self, value: Value, verb: str) -> str:
        self.charge(1)
        before, self.erroring = self.erroring, True
        text = f"%!{verb}({_type_name(value)}={self.argument(value, 'v')})"
        self.erroring = before
        return text

    def value(self, value: Value, verb: str, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise OverBudget(f"prints values nested deeper than {MAX_DEPTH}")
        text = self.by_method(value, verb)
        if text is None:
            text = self.format_plain(value, verb, depth)
        return self.bad_verb(value, verb) if text is None else text

    def by_method(self, value: Value, verb: str) -> str | None:
        """GoString, Error and String, for values that have them."""
        methods = getattr(value, "go_methods", None)
        if methods is None or self.erroring:
            return None
        if self.flags.sharp_v:
            method = methods.get("GoString")
            if method is None:
                return None
            return format_string(self.called(method, value), "s", self.flags, self.budget)
        method = methods.get("Error") or methods.get("String")
        if method is None or verb not in _STRING_VERBS:
            return None
        return format_string(self.called(method, value), verb, self.flags, self.budget)

    def called(self, method: Any, value: Value) -> str:
        text: str = method.call(self.budget or Budget(), value) if method.budgeted else method.call(value)
        return text

    def format_plain(self, value: Value, verb: str, depth: int) -> str | None:
        """None if the verb does not fit the value."""
        flags, budget = self.flags, self.budget
        if isinstance(value, str):
            return format_string(value, verb, flags, budget)
        if isinstance(value, bool):
            return pad("true" if value else "false", flags, budget) if verb in ("t", "v") else None
        if isinstance(value, int):
            return self.integer(value, verb)
        if isinstance(value, float):
            return format_number(value, verb, flags, budget, 32 if type(value) is Float32 else 64)
        if isinstance(value, complex):
            return format_complex(value, verb, flags, budget)
        return self.composite(value, verb, depth)

    def integer(self, value: int, verb: str) -> str | None:
        if self.flags.sharp_v and verb == "v" and isinstance(value, Int) and not value.signed:
            return format_integer(value, "x", self.flags.but(sharp=True), self.budget)
        return format_integer(value, verb, self.flags, self.budget)

    def composite(self, value: Value, verb: str, depth: int) -> str | None:
        if isinstance(value, list):
            return self.slice(value, verb, depth)
        if isinstance(value, dict):
            return self.map(value, verb, depth)
        if isinstance(value, ByteSlice):
            return self.bytes(value, verb)
        return self.object(value, verb, depth)

    def element(self, value: Value, verb: str, depth: int) -> str:
        if value is None:
            return "interface {}(nil)" if self.flags.sharp_v else "<nil>"
        return self.value(value, verb, depth + 1)

    def charge(self, size: int) -> None:
        if self.budget is not None:
            self.budget.work(3 * size)

    def slice(self, items: list[Value], verb: str, depth: int) -> str:
        self.charge(len(items))
        texts = [self.element(item, verb, depth) for item in items]
        if not self.flags.sharp_v:
            return f"[{' '.join(texts)}]"
        return f"{_type_name(items)}(nil)" if is_nil(items) else f"{_type_name(items)}{{{', '.join(texts)}}}"

    def map(self, entries: dict[str, Value], verb: str, depth: int) -> str:
        self.charge(len(entries))
        texts = [
            f"{self.value(key, verb, depth + 1)}:{self.element(entries[key], verb, depth)}"
            for key in sorted_keys(entries)
        ]
        if not self.flags.sharp_v:
            return f"map[{' '.join(texts)}]"
        return (
            f"{_type_name(entries)}(nil)"
            if is_nil(entries)
            else f"{_type_name(entries)}{{{', '.join(texts)}}}"
        )

    def bytes(self, data: ByteSlice, verb: str) -> str:
        text = format_bytes(data, verb, self.flags, self.budget)
        if text is not None:
            return text
        self.charge(len(data))
        if self.flags.sharp_v:
            return f"[]byte{{{', '.join(f'0x{byte:x}' for byte in data)}}}"
        texts = [
            format_integer(byte, verb, self.flags, self.budget) or f"%!{verb}(uint8={byte})" for byte in data
        ]
        return f"[{' '.join(texts)}]"

    def object(self, value: Value, verb: str, depth: int) -> str | None:
        if value.go_type.kind == "ptr":
            return f"&{self.fields(value, verb, depth)}" if depth == 0 else self.pointer(value, verb)
        return self.fields(value, verb, depth)

    def fields(self, value: Value, verb: str, depth: int) -> str:
        named = self.flags.plus_v or self.flags.sharp_v
        texts = []
        for name, field in value.go_fields().items():
            text = self.element(field, verb, depth)
            texts.append(f"{name}:{text}" if named else text)
        body = (", " if self.flags.sharp_v else " ").join(texts)
        head = _type_name(value).lstrip("*") if self.flags.sharp_v else ""
        return f"{head}{{{body}}}"

    def pointer(self, value: Value, verb: str) -> str:
        if not isinstance(value, list | dict | ByteSlice) and getattr(type_of(value), "kind", "") != "ptr":
            return self.bad_verb(value, verb)
        address = 0 if is_nil(value) else _ADDRESS
        if verb == "v" and self.flags.sharp_v:
            return f"({_type_name(value)})({f'{address:#x}' if address else 'nil'})"
        if verb in ("p", "v"):
            return format_integer(address, "x", self.flags.but(sharp=not self.flags.sharp), self.budget) or ""
        if verb not in "bodxX":
            return self.bad_verb(value, verb)
        return format_integer(address, verb, self.flags, self.budget) or ""


# Where everything lies: a real address would differ from run to run, and tell strangers about the process.
_ADDRESS: Final = 0xC000010000


def _type_name(value: Value) -> str:
    found = type_of(value)
    return "<nil>" if found is None else found.name


def sprintf(template: str, args: Sequence[Value], budget: Budget | None = None) -> str:
    from steward.gotemplate.fmt.directives import run_format

    return run_format(template, args, budget)
