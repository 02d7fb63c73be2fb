"""`postgresConfig`, a map of Postgres settings, becomes a ConfigMap and a reference to it."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from steward.cli.convert.notes import Notes, Part

KEY: Final = "postgresql.conf"
_INVALID: Final = re.compile(r"[^a-z0-9-]+")


class SettingsHolder(NamedTuple):
    """A shard, an override of one, or a template: where settings are written. `name` is unique in the file."""

    name: str
    field: str
    part: Part


def convert_settings(holder: SettingsHolder, notes: Notes) -> list[Part]:
    """The ConfigMap, if there are settings."""
    settings = holder.part.pop("postgresConfig", None)
    if not isinstance(settings, dict) or not settings:
        return []
    field = f"{holder.field}.postgresConfig"
    if "postgresConfigRef" in holder.part:
        notes.lost(field, "postgresConfigRef is set as well: add the settings to its ConfigMap")
        return []
    name = f"{_INVALID.sub('-', holder.name.lower()).strip('-')}-postgres-config"
    holder.part["postgresConfigRef"] = {"name": name, "key": KEY}
    notes.check(field, f"the settings are in ConfigMap {name} now: apply it together with this object")
    lines = [f"{setting} = {_quoted(value)}\n" for setting, value in sorted(settings.items())]
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {KEY: "".join(lines)}}
    ]


def _quoted(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
