"""sprig's strval: any value as text, the way its string functions see it."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.fmt.printing import show
from steward.gotemplate.values.values import ByteSlice, StringSlice, Value, from_bytes


def text_of(value: Value, budget: Budget) -> str:
    """A string as it is, bytes as a string, anything else as %v prints it."""
    if isinstance(value, str):
        return value
    if isinstance(value, ByteSlice):
        return from_bytes(bytes(value))
    return show(value, budget)


def texts_of(value: Value, budget: Budget) -> StringSlice:
    """As a list of strings, without nils. A []string is returned itself: sorting it sorts the caller's list."""
    if type(value) is StringSlice:
        return value
    if isinstance(value, list):
        return StringSlice(
            [item if type(item) is str else text_of(item, budget) for item in value if item is not None]
        )
    if isinstance(value, ByteSlice):
        return StringSlice([str(byte) for byte in value])
    return StringSlice([] if value is None else [text_of(value, budget)])
