"""Which images a start needs and no node has."""

from collections.abc import Iterable

from steward.local.images.names import full_name


def missing_images(needed: Iterable[str], present: Iterable[str]) -> list[str]:
    """The names of `needed` that are not among `present`, in their order."""
    known = set(map(full_name, present))
    return [name for name in dict.fromkeys(needed) if full_name(name) not in known]
