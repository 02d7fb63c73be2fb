"""Defaults and validation of failover buffering. Pure.

A gateway holds a request for `window` at most, and requests of one failover for `maxFailoverDuration`; then they fail,
and for `minTimeBetweenFailovers` none is held. The election of a new primary after an unplanned loss takes up to 25 s.
The gateways' own default of a minute between failovers is too long: a rolling change may switch the primary of a shard
twice within seconds, and every request of the second switch would fail.
"""

from typing import Final

from msgspec import UNSET

from steward.kube.objects.durations import parse_duration
from steward.multigres.api.compute import Buffering
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default

WINDOW: Final = "30s"
MIN_TIME_BETWEEN_FAILOVERS: Final = "1s"
SIZE: Final = 1000


def complete_buffering(written: Buffering | Unset) -> Buffering:
    """With all fields. The longest failover is at least as long as the window, so that the window can be set alone."""
    given = or_default(written, Buffering())
    window = or_default(given.window, WINDOW)
    longest = window if parse_duration(window) > parse_duration(WINDOW) else WINDOW
    return Buffering(
        enabled=or_default(given.enabled, True),
        window=window,
        max_failover_duration=or_default(given.max_failover_duration, longest),
        min_time_between_failovers=or_default(given.min_time_between_failovers, MIN_TIME_BETWEEN_FAILOVERS),
        size=or_default(given.size, SIZE),
    )


def buffering_problem(written: Buffering | Unset) -> str:
    """A message if gateways would not start with these values, otherwise empty."""
    buffering = complete_buffering(written)
    window, longest = buffering.window, buffering.max_failover_duration
    assert window is not UNSET
    assert longest is not UNSET
    if not buffering.enabled or 0 < parse_duration(window) <= parse_duration(longest):
        return ""
    return f"window {window} must be more than 0 and at most maxFailoverDuration, which is {longest}"
