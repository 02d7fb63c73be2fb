"""Whether a pool that nobody asks for any more may go: not at once while it leads its shard and another could. Pure.

Who leads is known from the topology. A pool that leads waits for somebody to switch the primary as long as it would for
its connections; then it ends in order, and another one takes over, as when the primary's pod is replaced. But it
never goes while no server that stays is ready to take over. While nobody knows who leads it waits just as long: a shard
whose topology is gone for good must still be able to lose a part.
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
    """The name of the pod that leads, None when nobody knows, and whether a pool that stays could take over: ever, and
    now."""

    primary: str | None = None
    has_heir: bool = False
    is_heir_ready: bool = False


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
    heirs = [pool for pool in pools if pool.may_lead and pool.wanted]
    servers = [member for pool in heirs for member in pool.members]
    return Succession(primary, bool(heirs), any(each.is_ready and not each.is_leaving for each in servers))


def holds_back(leaver: Leaver, after: Succession, now: float, patience: float) -> Waiting | None:
    """Why the pool stays for now, if it does."""
    if leaver.ref.kind != STATEFUL_SET or not leaver.pods or not after.has_heir:
        return None
    going = f"removing {leaver.ref.key.name} waits"
    if after.primary in leaver.pods:
        if after.is_heir_ready and _is_over(leaver, now, patience):
            return None
        told = f"{going} until another pod has taken over: {_handing_over(after, patience)}"
        return Waiting(reasons.PRIMARY_WOULD_GO, told, _noted(leaver, now))
    if after.primary is not None or _is_over(leaver, now, patience):
        return None
    # Since when is noted on the set itself, and so survives a restart.
    told = f"{going} until the topology says which pod is the primary, at most {show_duration(patience)}"
    return Waiting(reasons.PRIMARY_UNKNOWN, told, _noted(leaver, now))


def _handing_over(after: Succession, patience: float) -> str:
    if not after.is_heir_ready:
        return f"{after.primary} is the primary, and no server that stays is ready"
    return (
        f"{after.primary} is the primary. Switch it to another one, or it ends by itself in "
        f"{show_duration(patience)} at most"
    )


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
