"""Whether a pool that nobody asks for any more may go: not at once while it leads its shard and another could. Pure.

Who leads is known from the topology. A pool that leads waits for somebody to switch the primary as long as it would for
its connections; then it ends in order, and another one takes over, as when the primary's pod is replaced. But no pool
goes, leading or not, while no server that stays is ready. While nobody knows who leads it waits, and nobody guesses.
Only where the topology cannot tell, because it does not answer or has never heard of the pool, is the pool treated as
the one that leads: a shard whose topology is gone for good must still be able to lose a part.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import STATEFUL_SET, Ref
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres import reasons
from steward.multigres.deletion.annotations import ASKED, FORCE
from steward.multigres.durations import show_duration
from steward.multigres.rollout.pods import Pool
from steward.runtime.plan.steps import Patch

_UNREADY = "until a server that stays is ready: until then its copy of the data is needed"


class Word(NamedTuple):
    """What the topology had to say when it was last asked: anything at all, and which pods are registered there."""

    is_answered: bool
    registered: frozenset[str] = frozenset()


class Succession(NamedTuple):
    """The name of the pod that leads, None when nobody knows, and whether a pool that stays could take over: ever, and
    now. There is no `word` while the topology was not asked since the pods last changed."""

    primary: str | None = None
    has_heir: bool = False
    is_heir_ready: bool = False
    word: Word | None = None

    def cannot_tell(self, pods: Sequence[str]) -> bool:
        """Whether the topology will not say of these pods who leads, however long one waits."""
        if self.word is None:
            return False
        return not self.word.is_answered or self.word.registered.isdisjoint(pods)


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
    if after.primary is None:
        if after.cannot_tell(leaver.pods) and after.is_heir_ready and _is_over(leaver, now, patience):
            return None
        told = f"{going} until the topology says which pod is the primary{_at_most(leaver, after, patience)}"
        return Waiting(reasons.PRIMARY_UNKNOWN, told, _noted(leaver, now))
    if after.primary not in leaver.pods:
        return None if after.is_heir_ready else Waiting(reasons.NO_OTHER_READY, f"{going} {_UNREADY}")
    if after.is_heir_ready and _is_over(leaver, now, patience):
        return None
    told = f"{going} until another pod has taken over: {_handing_over(after, patience)}"
    return Waiting(reasons.PRIMARY_WOULD_GO, told, _noted(leaver, now))


def _at_most(leaver: Leaver, after: Succession, patience: float) -> str:
    if after.word is None:
        return ""
    if not after.cannot_tell(leaver.pods):
        return f'; with {FORCE}: "true" on its Shard it goes nevertheless'
    if not after.is_heir_ready:
        return ", and no server that stays is ready"
    return f", at most {show_duration(patience)}: it cannot tell"


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
    # On the set itself: since when it waits survives a restart.
    return (Patch(leaver.ref, MergePatch({"metadata": {"annotations": {ASKED: to_timestamp(now)}}})),)


def _asked(leaver: Leaver) -> float | None:
    try:
        return from_timestamp(leaver.annotations[ASKED])
    except (KeyError, ValueError):
        return None
