"""Lets measured processes use cached bytecode, as in the image: compiling modules would increase their memory by
megabytes.

The bytecode is in the user's cache directory, because the source directory may be read-only. Python recompiles changed
sources.
"""

from __future__ import annotations

import os

from steward.local.paths import cache_directory


def enable_bytecode_cache() -> None:
    """Enable the cache for all processes started from now on; the first import of a module still compiles it."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(cache_directory() / "bench-bytecode")
