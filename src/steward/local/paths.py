"""Steward's directories on a user's machine, by the XDG rules: the cache for what can be rebuilt, the state directory
for a cluster's data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_directory(environment: Mapping[str, str] = os.environ) -> Path:
    return _base("XDG_CACHE_HOME", ".cache", environment) / "steward"


def default_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """The cluster directory of `steward up` unless --dir names another."""
    chosen = environment.get("STEWARD_DIR")
    return Path(chosen) if chosen else _base("XDG_STATE_HOME", ".local/state", environment) / "steward"


def _base(variable: str, fallback: str, environment: Mapping[str, str]) -> Path:
    # The XDG specification says to ignore relative paths.
    value = environment.get(variable, "")
    return Path(value) if value.startswith("/") else Path(environment.get("HOME") or Path.home()) / fallback
