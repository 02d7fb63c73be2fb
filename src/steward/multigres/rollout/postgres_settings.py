"""Postgres settings that can be raised and never lowered. Pure.

A standby does not start if one of these settings is lower than on the primary whose changes it replays, so a lower
value must reach the primary first. Multigres starts every server as a standby, also one that has just been the primary:
there is no order in which a lower value reaches all servers, and after the first restarts none of them starts any more.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.multigres.resolution.checks.bounded_lists import first_texts
from steward.multigres.resolution.postgres.conf_format import parse_settings
from steward.multigres.resolution.postgres.memory import DEFAULT_MAX_CONNECTIONS
from steward.multigres.resolution.postgres.settings import (
    NOT_ASKED,
    changed_settings,
    needs_restart,
    restart_digest,
    setting_names,
)
from steward.postgres.setting_values import KnownSetting, value_problem

DEFAULTS = {
    "max_connections": DEFAULT_MAX_CONNECTIONS,
    "max_worker_processes": 6,
    "max_wal_senders": 25,
    "max_prepared_transactions": 0,
    "max_locks_per_transaction": 64,
}
"""The settings, with the values that pgctld writes or, where it writes none, those of Postgres."""


class LoweredSetting(NamedTuple):
    name: str
    before: int
    after: int

    def __str__(self) -> str:
        return f"{self.name} from {self.before} to {self.after}"


def standby_settings(text: str) -> dict[str, int]:
    """The settings of DEFAULTS that a postgresql.conf sets. A value that is no number is left to Postgres, which
    rejects it."""
    written = parse_settings(text)
    numbers = {name: _number(written[name].strip()) for name in DEFAULTS if name in written}
    return {name: number for name, number in numbers.items() if number is not None}


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


def lowered_settings(
    before: str, after: str, needed: Mapping[str, int] | None = None
) -> list[LoweredSetting]:
    """`needed` are the values below which servers would not start; None if only those of `before` are known."""
    old, new = DEFAULTS | standby_settings(before), DEFAULTS | standby_settings(after)
    least = old if needed is None else {name: min(old[name], needed.get(name, 0)) for name in DEFAULTS}
    return [LoweredSetting(name, least[name], new[name]) for name in DEFAULTS if new[name] < least[name]]


class CurrentConfig(NamedTuple):
    """What servers read now: the settings, None if there are none, and the digest of those that need a restart."""

    text: str | None = None
    digest: str | None = None
    """None if it is not recorded: then it follows from the settings."""

    @property
    def restart_digest(self) -> str:
        return restart_digest(self.text) if self.digest is None else self.digest


class ConfigDecision(NamedTuple):
    """The settings that servers read, None if they read none; `problem` says why they are not the user's, `is_missing`
    if there are none of the user, `is_unknown` if Postgres would not start with one of them, `is_lowered` if standbys
    would not. Pods are replaced when `digest` changes."""

    text: str | None
    problem: str = ""
    is_missing: bool = False
    is_unknown: bool = False
    digest: str = ""
    is_lowered: bool = False
    retry_after: float | None = None
    """The decision may be another one after this many seconds."""


class DesiredConfig(NamedTuple):
    """What the user asks for; `source` names where that is from. A user who no longer refers to any settings desires
    none, which lowers those that were raised."""

    text: str | None
    source: str


def keep_config(current: CurrentConfig) -> ConfigDecision:
    return ConfigDecision(current.text, digest=current.restart_digest)


class NeededSettings(NamedTuple):
    """The values of DEFAULTS below which servers would not start: none before the first primary of a shard, and those
    that its servers run with if all of them can be asked; None if only the current settings are known."""

    values: Mapping[str, int] | None = None
    retry_after: float | None = None
    """More may be known after this many seconds."""


NOT_READ = NeededSettings()


def decide_config(
    current: CurrentConfig,
    desired: DesiredConfig,
    known: Mapping[str, KnownSetting] | None,
    needed: NeededSettings = NOT_READ,
) -> ConfigDecision:
    """`known` is what the primary says about the settings; None if it cannot be asked: a new shard has none, and its
    Postgres says in the log of its pod what it does not accept."""
    keep = keep_config(current)
    lowered = is_lowering(current, desired) and lowered_settings(
        current.text or "", desired.text or "", needed.values
    )
    if lowered:
        problem = _describe_lowered(desired.source, lowered, needed)
        return keep._replace(problem=problem, is_lowered=True, retry_after=needed.retry_after)
    if known is not None and (wrong := _wrong_settings(desired.text or "", known)):
        return keep._replace(problem=_describe_wrong(desired.source, wrong), is_unknown=True)
    return ConfigDecision(desired.text, digest=_next_digest(current, desired.text, known or NOT_ASKED))


def is_lowering(current: CurrentConfig, desired: DesiredConfig) -> bool:
    return current.text is not None and bool(lowered_settings(current.text, desired.text or ""))


def _next_digest(current: CurrentConfig, desired: str | None, known: Mapping[str, KnownSetting]) -> str:
    """The digest stays, unless a changed setting needs a restart. It is recorded, and not derived again from the
    settings: another answer of a server, or none, would restart all servers."""
    changed = changed_settings(current.text or "", desired or "")
    if current.text is None or any(needs_restart(name, known) for name in changed):
        return restart_digest(desired, known)
    return current.restart_digest


def _wrong_settings(text: str, known: Mapping[str, KnownSetting]) -> list[str]:
    """Settings with which Postgres would not start, each with the reason."""
    values = parse_settings(text)
    unknown = [f"{name} (Postgres does not know it)" for name in setting_names(text) if name not in known]
    problems = {name: value_problem(known[name], values[name]) for name in sorted(values) if name in known}
    return [*unknown, *(f"{name} ({problem})" for name, problem in problems.items() if problem)]


def _describe_wrong(source: str, wrong: Sequence[str]) -> str:
    return (
        f"{source} sets {', '.join(first_texts(wrong, 'settings'))}, and Postgres would not start any more; correct it,"
        " until then servers keep the settings that they have"
    )


def _describe_lowered(source: str, lowered: Sequence[LoweredSetting], needed: NeededSettings) -> str:
    what = f"{source} lowers {', '.join(map(str, lowered))}"
    if needed.retry_after is not None:
        return f"{what}, while servers start for the first time; it is taken over if none of them can"
    return (
        f"{what}, and no standby would start any more; set the former value or a higher one, until then servers keep"
        " the settings that they have"
    )
