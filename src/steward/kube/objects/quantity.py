"""Parses Kubernetes quantities: `1000m` equals `1`, `1Gi` equals `1024Mi`, `1e3` equals `1k`.

The API server keeps nine decimal places, rounds up beyond them (away from zero) and caps at the largest 64-bit integer.
So does this parser, because two notations are equal when the server would store the same amount.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

_FORM: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>\d*)(?:\.(?P<part>\d*))?(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?\d+))?"
)
_BINARY: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NANO: Final = 10**9
_LARGEST: Final = 2**63 - 1
# Larger than any quantity in a cluster; without a limit "1e999999999" would exhaust the memory.
_LARGEST_EXPONENT: Final = 99


@lru_cache(maxsize=1024)
def parse_quantity(text: str | int | float) -> Fraction:
    """The exact amount that the server would store; ValueError for text that is no quantity."""
    match = _FORM.fullmatch(str(text))
    if match is None or not (match["whole"] or match["part"]):
        raise ValueError(
            f"{text!r} is not a quantity: write a number with an optional suffix, such as 500m or 10Gi"
        )
    digits, places = match["whole"] + (match["part"] or ""), len(match["part"] or "")
    amount = Fraction(int(digits), 10**places) * _scale(match["suffix"] or "", match["exponent"] or "0")
    amount = min(_to_nano(amount), Fraction(_LARGEST))
    return -amount if match["sign"] == "-" else amount


def _scale(suffix: str, exponent: str) -> Fraction:
    if suffix in _BINARY:
        return Fraction(1024 ** _BINARY[suffix])
    power = max(-_LARGEST_EXPONENT, min(_LARGEST_EXPONENT, _DECIMAL[suffix] + int(exponent)))
    return Fraction(10) ** power


def _to_nano(amount: Fraction) -> Fraction:
    return Fraction(-(-amount.numerator * _NANO // amount.denominator), _NANO)


@lru_cache(maxsize=4096)
def canonical_quantity(value: str | int | float) -> str | None:
    """One notation for each amount; None for a value that is no quantity."""
    try:
        return str(parse_quantity(value))
    except ValueError:
        return None
