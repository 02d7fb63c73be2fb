"""The namespace of the sample, and whether there is one. Every verb imports this: it must not import what makes one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from steward.local.settings import Layout

NAMESPACE: Final = "demo"
TABLE_FILE: Final = "customers.db"


def has_sample(directory: Path) -> bool:
    """Whether `steward up` has made the sample's table in its directory."""
    return (Layout(directory.absolute()).sample / TABLE_FILE).exists()
