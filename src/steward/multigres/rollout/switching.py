"""Planned switches of the primary: when one is needed, and what its result means. Pure.

Multiadmin asks the primary to resign; the orchestrators then elect another server, and nothing can choose which. The
call returns before there is a new primary, so only an observation ends the wait.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.kube.objects.durations import parse_duration
from steward.multigres import reasons
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.compute import MultiGateway
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.buffering import complete_buffering

SPACING_SECONDS = 10.0
"""The shortest time between two requests for one shard: an election takes as long."""


class SwitchAttempt(NamedTuple):
    """The latest request to switch the primary of a shard away from a pod; `error` is why multiadmin refused it."""

    primary: str
    error: str = ""


class ChangeOptions(NamedTuple):
    """`is_forced` if a user lets a change continue without waiting; `last_switch` is the latest switch, None if it was
    long ago."""

    is_forced: bool = False
    last_switch: SwitchAttempt | None = None


NO_OPTIONS = ChangeOptions()


def switch_spacing(cells: Iterable[CellSpec]) -> float:
    """The shortest time between two switches of a shard: gateways hold no request of a switch that begins sooner after
    the last one than their `minTimeBetweenFailovers`, and one that is not held fails."""
    settings = (or_default(cell.multi_gateway, MultiGateway()).buffering for cell in cells)
    pauses = (complete_buffering(written).min_time_between_failovers for written in settings)
    return max((SPACING_SECONDS, *(parse_duration(or_default(pause, "0s")) for pause in pauses)))


class SwitchWait(NamedTuple):
    """Why a change waits for another primary."""

    reason: str
    message: str


def missing_primary_wait(last: SwitchAttempt | None, cure: str) -> SwitchWait:
    """While no primary is known: the last switch explains it for a while."""
    if last is not None and not last.error:
        message = f"until another server has taken over from {last.primary}"
        return SwitchWait(reasons.SWITCHING_PRIMARY, message)
    return SwitchWait(reasons.PRIMARY_UNKNOWN, f"until the shard has a primary; {cure}")


def switch_wait(primary: str, last: SwitchAttempt | None, cure: str) -> SwitchWait:
    """`cure` says how the change continues without a switch."""
    if last is None or last.primary != primary or not last.error:
        return SwitchWait(
            reasons.SWITCHING_PRIMARY, f"until another server has taken over: {primary} is the primary"
        )
    message = (
        f"until another server has taken over from {primary}; the switch was refused: {last.error}; {cure}"
    )
    return SwitchWait(reasons.SWITCH_REFUSED, message)
