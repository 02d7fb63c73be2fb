"""Measured processes find compiled modules, as in the image: compiling them is no cost of an operator at rest, yet
leaves megabytes behind.

The bytecode lies in the user's cache and not beside the sources, which may be read-only. Python itself notices when a
source is newer.
"""

from __future__ import annotations

import os

from steward.local.paths import cache_directory


def keep_bytecode() -> None:
    """For every process that is started from here on; each module's first import anywhere still compiles it."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(cache_directory() / "bench-bytecode")
