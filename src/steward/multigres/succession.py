"""Whether a pool that nobody asks for any more may go: not while it leads its shard and another could. Pure.

Who leads is known from the topology. While it is not known, a pool waits as long as it would for its connections, and
no longer: a shard whose topology is gone for good must still be able to lose a part.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.kube.kinds import STATEFUL_SET, Ref
from steward.kube.patches import MergePatch
from steward.kube.timestamps import from_timestamp, to_timestamp
from steward.multigres import reasons
from steward.multigres.deletion import ASKED
from steward.multigres.durations import show_duration
from steward.multigres.rollout import Pool
from steward.runtime.plan import Patch


class Succession(NamedTuple):
    """The name of the pod that leads, None when nobody knows, and whether a pool that stays could take over."""

    primary: str | None = None
    has_heir: bool = False


class Waiting(NamedTuple):
    reason: str
    told: str
    steps: tuple[Patch, ...] = ()


class Leaver(NamedTuple):
    """A pool on its way out."""

    ref: Ref
    annotations: Mapping[str, str]
    pods: Sequence[str]


def succession(pools: Sequence[Pool], primary: str | None) -> Succession:
    """`pools` are those that stay."""
    return Succession(primary, any(pool.may_lead and pool.wanted for pool in pools))


def holds_back(leaver: Leaver, after: Succession, now: float, patience: float) -> Waiting | None:
    """Why the pool stays for now, if it does."""
    if leaver.ref.kind != STATEFUL_SET or not leaver.pods or not after.has_heir:
        return None
    going = f"removing {leaver.ref.key.name} waits"
    if after.primary in leaver.pods:
        cure = f"{after.primary} is the primary, switch it to another one"
        return Waiting(reasons.PRIMARY_WOULD_GO, f"{going} until another pod has taken over: {cure}")
    if after.primary is not None or _is_over(leaver, now, patience):
        return None
    # Since when is noted on the set itself, and so survives a restart.
    told = f"{going} until the topology says which pod is the primary, at most {show_duration(patience)}"
    return Waiting(reasons.PRIMARY_UNKNOWN, told, _noted(leaver, now))


def _is_over(leaver: Leaver, now: float, patience: float) -> bool:
    asked = _asked(leaver)
    return asked is not None and now - asked >= patience


def _noted(leaver: Leaver, now: float) -> tuple[Patch, ...]:
    if _asked(leaver) is not None:
        return ()
    return (Patch(leaver.ref, MergePatch({"metadata": {"annotations": {ASKED: to_timestamp(now)}}})),)


def _asked(leaver: Leaver) -> float | None:
    try:
        return from_timestamp(leaver.annotations[ASKED])
    except (KeyError, ValueError):
        return None
