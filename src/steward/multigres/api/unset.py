"""Fields that were left out: msgspec's UNSET, as opposed to zero or an empty list."""

from typing import TypeVar

from msgspec import UnsetType

T = TypeVar("T")


def or_default(value: T | UnsetType, default: T) -> T:
    """The value, or `default` where the field was left out."""
    return default if isinstance(value, UnsetType) else value


def generation_of_status(observed: int | UnsetType) -> int:
    """The generation that a status is about; 0 before the first one, where the schema has a negative default."""
    return max(0, or_default(observed, 0))
