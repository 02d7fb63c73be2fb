"""Where Steward keeps things on a user's machine, by the XDG rules: what can be made again in the cache, what a
cluster holds in the state directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_directory(environment: Mapping[str, str] = os.environ) -> Path:
    return _base("XDG_CACHE_HOME", ".cache", environment) / "steward"


def default_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Where `steward up` keeps its cluster unless told otherwise."""
    chosen = environment.get("STEWARD_DIR")
    return Path(chosen) if chosen else _base("XDG_STATE_HOME", ".local/state", environment) / "steward"


def _base(variable: str, fallback: str, environment: Mapping[str, str]) -> Path:
    # The XDG rules say that a relative path is to be ignored.
    value = environment.get(variable, "")
    return Path(value) if value.startswith("/") else Path(environment.get("HOME") or Path.home()) / fallback
