"""When the volumes of a pool grow, and to which size. Pure."""

from fractions import Fraction
from typing import Final

from msgspec import UNSET

from steward.kube.objects.quantity import parse_quantity
from steward.multigres.api.compute import Autogrow, PoolStorage
from steward.multigres.api.unset import or_default

DEFAULT_AT: Final = "80%"
DEFAULT_BY: Final = "20%"
HIGHEST_AT: Final = Fraction(95, 100)
_MEBIBYTE: Final = 1024**2
_GIBIBYTE: Final = 1024**3


def share(percentage: str) -> Fraction:
    return Fraction(int(percentage.rstrip("%")), 100)


def fills_up(rule: Autogrow, used: int, capacity: Fraction) -> bool:
    return capacity > 0 and Fraction(used) / capacity >= share(or_default(rule.at, DEFAULT_AT))


def grown_size(rule: Autogrow, size: str | int) -> str | None:
    """The next size, in whole units as storage systems allocate them; None if the volumes have their largest size."""
    current, largest = parse_quantity(size), parse_quantity(rule.max)
    if current >= largest:
        return None
    wanted = current * (1 + share(or_default(rule.by, DEFAULT_BY)))
    unit, suffix = (_GIBIBYTE, "Gi") if current >= 4 * _GIBIBYTE else (_MEBIBYTE, "Mi")
    rounded = -(-wanted // unit) * unit
    return str(rule.max) if rounded >= largest else f"{rounded // unit}{suffix}"


def growth_problem(storage: PoolStorage) -> str:
    """Why the rule cannot be; "" if it can."""
    rule = storage.autogrow
    if rule is UNSET:
        return ""
    if share(or_default(rule.at, DEFAULT_AT)) > HIGHEST_AT:
        return f"at {rule.at} a volume may be full before it has grown; give 95% or less"
    size = or_default(storage.size, "0")
    try:
        is_small = parse_quantity(rule.max) < parse_quantity(size)
    except ValueError as error:
        return str(error)
    return f"max {rule.max} is below the size {size}" if is_small else ""
