"""Checks values of settings as PostgreSQL does, by what a server says about its settings. Pure.

A value that a server does not accept keeps it from starting, so it must be found before a server reads it. PostgreSQL
has no call for that: `set_config` rejects every setting that cannot change in a session, whatever its value.
"""

import re
from typing import Final, NamedTuple

RESTART_CONTEXT, FIXED_CONTEXT = "postmaster", "internal"
_NUMBER: Final = re.compile(
    r"\s*([+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))\s*([A-Za-z]*)\s*"
)
_OCTAL: Final = re.compile(r"([+-]?)0([0-7]+)")
_MEMORY: Final = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_TIME: Final = {"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_UNIT: Final = re.compile(r"(\d*)([A-Za-z]+)")
_BOOLEANS: Final = ("true", "false", "yes", "no", "on", "off", "1", "0")
# Further spellings, which the server accepts and does not list. Those of booleans belong to many settings.
_UNLISTED: Final = frozenset({"archive", "debug", "fatal", "hot_standby", "info", "panic"})


class KnownSetting(NamedTuple):
    """A setting as `pg_settings` describes it. Numbers are in `unit`, for example `8kB` or `ms`; "" if it has none."""

    context: str
    type: str
    unit: str = ""
    min: str = ""
    max: str = ""
    choices: tuple[str, ...] = ()

    @property
    def needs_restart(self) -> bool:
        return self.context == RESTART_CONTEXT


def value_problem(setting: KnownSetting, value: str) -> str:
    """Why a server would not accept the value; "" if it does. Texts are not checked: a setting may have rules of its
    own for them, which only the server knows."""
    if setting.context == FIXED_CONTEXT:
        return "it cannot be set"
    if setting.type == "bool":
        return "" if _is_boolean(value) else "it is on or off"
    if setting.type == "enum":
        known = {choice.lower() for choice in setting.choices} | _UNLISTED
        is_known = value.lower() in known or _is_boolean(value)
        return "" if is_known else f"it is one of {', '.join(setting.choices)}"
    return _number_problem(setting, value) if setting.type in ("integer", "real") else ""


def _is_boolean(value: str) -> bool:
    """PostgreSQL accepts the beginning of a word as well, if it is not ambiguous."""
    text = value.lower()
    return bool(text) and text != "o" and any(word.startswith(text) for word in _BOOLEANS)


def _number_problem(setting: KnownSetting, value: str) -> str:
    match = _NUMBER.fullmatch(value)
    if match is None:
        return "it is not a number"
    factor = _factor(match[2], setting.unit)
    if factor is None:
        return _unit_problem(setting.unit)
    number = _parse_number(match[1], setting.type) * factor
    # Half a unit is rounded, in favour of the user at the limits.
    slack = 0.5 if setting.type == "integer" else 0.0
    if _is_outside(setting, number, slack):
        return f"it is outside of {setting.min} to {setting.max}{_in_unit(setting.unit)}"
    return ""


def _is_outside(setting: KnownSetting, number: float, slack: float) -> bool:
    is_below = bool(setting.min) and number < float(setting.min) - slack
    return is_below or (bool(setting.max) and number > float(setting.max) + slack)


def _parse_number(text: str, kind: str) -> float:
    if kind == "integer" and (octal := _OCTAL.fullmatch(text)):
        return float(int(octal[1] + octal[2], 8))
    return float(int(text, 16)) if "x" in text.lower() else float(text)


def _factor(written: str, unit: str) -> float | None:
    """By which a number with the written unit is multiplied; None if the setting has no such unit."""
    if not written:
        return 1.0
    for units in (_MEMORY, _TIME):
        size = _unit_size(unit, units)
        if size is not None:
            return units[written] / size if written in units else None
    return None


def _unit_size(unit: str, units: dict[str, int]) -> int | None:
    match = _UNIT.fullmatch(unit)
    return int(match[1] or 1) * units[match[2]] if match and match[2] in units else None


def _unit_problem(unit: str) -> str:
    for units in (_MEMORY, _TIME):
        if _unit_size(unit, units) is not None:
            return f"its unit is one of {', '.join(units)}"
    return "it has no unit"


def _in_unit(unit: str) -> str:
    return f", in {unit}" if unit else ""
