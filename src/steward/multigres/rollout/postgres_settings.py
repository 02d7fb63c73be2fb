"""Postgres settings that can be raised and never lowered. Pure.

A standby does not start if one of these settings is lower than on the primary whose changes it replays, so a lower
value must reach the primary first. Multigres starts every server as a standby, also one that has just been the primary:
there is no order in which a lower value reaches all servers, and after the first restarts none of them starts any more.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

DEFAULTS = {
    "max_connections": 110,
    "max_worker_processes": 6,
    "max_wal_senders": 25,
    "max_prepared_transactions": 0,
    "max_locks_per_transaction": 64,
}
"""The settings, with the values that pgctld writes or, where it writes none, those of Postgres."""

# `name = value`, where the equals sign is optional and a value in quotes may have a quote doubled or escaped.
_LINE = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(?:=\s*|\s)('(?:[^'\\]|''|\\.)*'|[^\s#']+)")


class LoweredSetting(NamedTuple):
    name: str
    before: int
    after: int

    def __str__(self) -> str:
        return f"{self.name} from {self.before} to {self.after}"


def parse_settings(text: str) -> dict[str, int]:
    """The settings of DEFAULTS that a postgresql.conf sets. As in Postgres names have no case, and the last line wins.
    A value that is no number is left to Postgres, which rejects it."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None or (name := match[1].lower()) not in DEFAULTS:
            continue
        number = _number(match[2].strip("'").strip())
        if number is not None:
            found[name] = number
    return found


def _number(value: str) -> int | None:
    """As Postgres reads an integer: decimal, hexadecimal, octal, or rounded."""
    try:
        if re.fullmatch(r"[+-]?0[0-7]+", value):
            return int(value, 8)
        return int(value, 0)
    except ValueError:
        pass
    try:
        return round(float(value))
    except (ValueError, OverflowError):
        return None


def lowered_settings(before: str, after: str) -> list[LoweredSetting]:
    old, new = DEFAULTS | parse_settings(before), DEFAULTS | parse_settings(after)
    return [LoweredSetting(name, old[name], new[name]) for name in DEFAULTS if new[name] < old[name]]


class ConfigDecision(NamedTuple):
    """The settings that servers read, None if they read none; `problem` says why they are not the user's, `is_missing`
    if there are none of the user, `is_unknown` if Postgres does not know one of them."""

    text: str | None
    problem: str = ""
    is_missing: bool = False
    is_unknown: bool = False


def refuse_unknown(current: str | None, names: Sequence[str], source: str) -> ConfigDecision:
    problem = (
        f"{source} sets {', '.join(names)}, which Postgres does not know: it would not start any more; correct the"
        " name, until then servers keep the settings that they have"
    )
    return ConfigDecision(current, problem, is_unknown=True)


def decide_config(current: str | None, desired: str | None, source: str) -> ConfigDecision:
    """`current` is what servers read now, `desired` what the user asks for; `source` names where that is from. A user
    who no longer refers to any settings desires none, which lowers those that were raised."""
    if current is None:
        return ConfigDecision(desired)
    lowered = lowered_settings(current, desired or "")
    if not lowered:
        return ConfigDecision(desired)
    listed = ", ".join(map(str, lowered))
    problem = (
        f"{source} lowers {listed}, and no standby would start any more; set the former value or a higher one,"
        " until then servers keep the settings that they have"
    )
    return ConfigDecision(current, problem)
