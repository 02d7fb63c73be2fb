"""shopspring/decimal as sprig's float functions use it: exact sums and products, quotients to sixteen places."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, isnan
from typing import NamedTuple

from steward.gotemplate.errors import GoPanic

_DIVISION_PLACES = 16


class Decimal(NamedTuple):
    """`digits` times ten to the `exponent`."""

    digits: int
    exponent: int


def from_float(value: float) -> Decimal:
    """The shortest decimal that reads back as the float."""
    if not isfinite(value):
        shown = "NaN" if isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise GoPanic(f"Cannot create a Decimal from {shown}")
    if value == 0:
        return Decimal(0, 0)
    mantissa, _, exponent = f"{value!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    stripped = digits.rstrip("0")
    return Decimal(int(stripped or 0), int(exponent or 0) - len(fraction) + len(digits) - len(stripped))


def to_float(value: Decimal) -> float:
    """The nearest float."""
    # 0.30103 is the logarithm of 2: beyond these sizes no power of ten need be made.
    size = value.digits.bit_length() * 0.30103 + value.exponent
    if size < -400 or not value.digits:
        return -0.0 if value.digits < 0 else 0.0
    if size > 400:
        return float("-inf" if value.digits < 0 else "inf")
    try:
        if value.exponent >= 0:
            return float(value.digits * 10**value.exponent)
        return float(value.digits / 10**-value.exponent)
    except OverflowError:
        return float("inf") if value.digits > 0 else float("-inf")


def add(left: Decimal, right: Decimal) -> Decimal:
    exponent = min(left.exponent, right.exponent)
    return Decimal(_scaled(left, exponent) + _scaled(right, exponent), exponent)


def subtract(left: Decimal, right: Decimal) -> Decimal:
    return add(left, Decimal(-right.digits, right.exponent))


def multiply(left: Decimal, right: Decimal) -> Decimal:
    return Decimal(left.digits * right.digits, left.exponent + right.exponent)


def divide(left: Decimal, right: Decimal) -> Decimal:
    """To sixteen places after the point, halves away from zero."""
    if right.digits == 0:
        raise GoPanic("decimal division by 0")
    shift = left.exponent - right.exponent + _DIVISION_PLACES
    over, under = abs(left.digits), abs(right.digits)
    if shift >= 0:
        over *= 10**shift
    else:
        under *= 10**-shift
    quotient, rest = divmod(over, under)
    if rest * 2 >= under:
        quotient += 1
    negative = (left.digits < 0) != (right.digits < 0)
    return Decimal(-quotient if negative else quotient, -_DIVISION_PLACES)


def _scaled(value: Decimal, exponent: int) -> int:
    return int(value.digits * 10 ** (value.exponent - exponent))


def fold(first: float, others: list[float], operation: Callable[[Decimal, Decimal], Decimal]) -> float:
    """The operation over all the numbers from the left."""
    result = from_float(first)
    for other in others:
        result = operation(result, from_float(other))
    return to_float(result)
