"""What a child cannot do without. Ours always have it; one that somebody else made may not."""

from typing import TypeVar

from msgspec import UnsetType

T = TypeVar("T")


class IncompleteError(ValueError):
    """A spec lacks a field that nothing can stand in for; the message names it."""


def needed(value: T | UnsetType, field: str) -> T:
    if isinstance(value, UnsetType):
        raise IncompleteError(
            f"spec.{field} is missing: delete the object, its MultigresCluster makes it anew"
        )
    return value
