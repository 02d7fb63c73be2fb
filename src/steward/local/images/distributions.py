"""Python distributions that a distribution needs at run time, and their files in this environment."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from steward.local.errors import ImageNotMade

_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"\bextra\s*==")


def required_distributions(name: str) -> dict[str, metadata.Distribution]:
    """All distributions that `name` needs, by normalised name, itself excluded.

    Markers other than extras are not evaluated: a requirement for another Python or platform is not installed here.
    """
    found: dict[str, metadata.Distribution] = {}
    remaining = _requirements(metadata.distribution(name))
    while remaining:
        each = remaining.pop()
        if each in found:
            continue
        try:
            found[each] = metadata.distribution(each)
        except metadata.PackageNotFoundError:
            continue
        remaining += _requirements(found[each])
    return dict(sorted(found.items()))


def _requirements(distribution: metadata.Distribution) -> list[str]:
    names = [_NAME.match(line) for line in distribution.requires or () if not _EXTRA.search(line)]
    return [normalised_name(name[0]) for name in names if name]


def normalised_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_files(distribution: metadata.Distribution) -> dict[str, Path]:
    """Path below site-packages and file here; without scripts and compiled files."""
    if distribution.files is None:
        raise ImageNotMade(
            f"The operators' image cannot be made, because {distribution.name} has no list of its files: install "
            f"Steward into a virtual environment with pip or uv."
        )
    return {
        str(path): Path(str(path.locate()))
        for path in distribution.files
        if not path.is_absolute() and ".." not in path.parts and "__pycache__" not in path.parts
    }
