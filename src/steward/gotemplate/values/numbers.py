"""Floating-point numbers as strconv.FormatFloat writes them, and the `%v` form that templates print.

Python's repr gives the same shortest digits as Go; only where the exponent form begins differs.
"""

from __future__ import annotations

import math
from typing import Final

SHORTEST_EXPONENT: Final = 6
"""Where `%g` with the fewest digits turns to exponent form."""


def show_float(value: float) -> str:
    """`%v`: the shortest digits; in exponent form below 1e-4 and from 1e6 on."""
    size = abs(value)
    if 1e-4 <= size < 1e6:
        text = repr(value)
        return text[:-2] if text.endswith(".0") else text
    if value == 0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    return format_float(value, "g", -1)


def format_float(value: float, verb: str, precision: int = -1, bits: int = 64) -> str:
    """verb is one of e E f g G b x X; precision -1 means as many digits as the value needs."""
    special = _special(value)
    if special:
        return special
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    size = abs(value)
    if verb == "b":
        return sign + _binary(size, bits)
    if verb in "xX":
        text = _hexadecimal(size, precision)
        return sign + (text.upper() if verb == "X" else text)
    if precision < 0:
        return sign + _shortest(size, verb, bits)
    if verb in "gG" and precision == 0:
        precision = 1
    return sign + f"%.{precision}{verb}" % size


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return ""


def digits_of(size: float, bits: int = 64) -> tuple[str, int]:
    """Shortest digits d1d2d3... and the exponent of d1.d2d3...; zero is ('0', 0)."""
    text = repr(size) if bits == 64 else _shortest32(size)
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    stripped = stripped.rstrip("0")
    return (stripped, point - 1) if stripped else ("0", 0)


def _shortest32(size: float) -> str:
    import struct

    for precision in range(1, 10):
        text = f"%.{precision}g" % size
        if struct.pack("f", float(text)) == struct.pack("f", size):
            return text
    return repr(size)


def _shortest(size: float, verb: str, bits: int) -> str:
    digits, exponent = digits_of(size, bits)
    if verb == "f":
        return _fixed(digits, exponent)
    if verb in "gG" and -4 <= exponent < SHORTEST_EXPONENT:
        return _fixed(digits, exponent)
    return _scientific(digits, exponent, "E" if verb in "EG" else "e")


def _fixed(digits: str, exponent: int) -> str:
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


def _scientific(digits: str, exponent: int, letter: str) -> str:
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}{letter}{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _binary(size: float, bits: int) -> str:
    width, lowest = (53, -1074) if bits == 64 else (24, -149)
    if size == 0:
        return f"0p{lowest:+d}"
    fraction, exponent = math.frexp(size)
    power = max(exponent - width, lowest)
    return f"{int(math.ldexp(fraction, exponent - power))}p{power:+d}"


def _hexadecimal(size: float, precision: int) -> str:
    if size == 0:
        mantissa, exponent = 0, 0
    else:
        fraction, exponent = math.frexp(size)
        mantissa, exponent = int(math.ldexp(fraction, 53)), exponent - 1
    digits = 13
    if 0 <= precision < 13:
        mantissa, exponent = _round_mantissa(mantissa, exponent, precision)
        digits = precision
    leading, rest = mantissa >> (4 * digits), mantissa & ((1 << (4 * digits)) - 1)
    tail = f"{rest:0{digits}x}" if digits else ""
    tail = tail.rstrip("0") if precision < 0 else tail.ljust(precision, "0")
    sign = "-" if exponent < 0 else "+"
    return f"0x{leading}{'.' + tail if tail else ''}p{sign}{abs(exponent):02d}"


def _round_mantissa(mantissa: int, exponent: int, precision: int) -> tuple[int, int]:
    shift = 4 * (13 - precision)
    kept, cut = mantissa >> shift, mantissa & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    if cut > half or (cut == half and kept & 1):
        kept += 1
    if kept >> (4 * precision) > 1:
        return kept >> 1, exponent + 1
    return kept, exponent
