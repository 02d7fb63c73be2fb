"""What would grow out of a changed MultigresCluster, or out of clusters whose templates change, beside what grows now.

The trees before and after come from the operator's own builders, on the template contents that its own decision puts
in force: a cluster under `Manual` or `Window` is told as waiting, and one that a change would break as refusing it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from steward.cli.preview.offline_tree import grown
from steward.cli.preview.template_situation import Place, read_place
from steward.cli.preview.text import Outlook, difference
from steward.kube.client.client import Client
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Manifest, Ref, ref_of
from steward.multigres import reasons
from steward.multigres.template_updates.candidate import Situation, told
from steward.multigres.template_updates.policy import Decision, decide
from steward.runtime.plan.dry_run import Verdict

_GONE: Final = "it grows out of nothing any more"
_UNUSED: Final = "it is not used any more; pvcDeletionPolicy says whether it stays"
_WAITS: Final = {
    reasons.WAITING_FOR_APPROVAL: "will wait for approval",
    reasons.WAITING_FOR_WINDOW: "will wait for its window",
    reasons.ROLLED_BACK: "will stay on what it went back to",
}


class Prospect(NamedTuple):
    """A cluster, and what the operator decides about its templates."""

    at: Situation
    decision: Decision

    @property
    def tree(self) -> dict[Ref, Manifest]:
        found = grown(*self.at.identity, self.at.spec, self.decision.attempt.resolved)
        return {ref_of(each): each for each in found}

    @property
    def problems(self) -> str:
        return told(self.decision.attempt.problems)


async def foreseen_trees(client: Client, changed: list[Manifest], namespaces: Iterable[str]) -> list[Outlook]:
    """`changed` is as the server's dry run answered: defaults and all."""
    found: list[Outlook] = []
    moment = datetime.datetime.now(datetime.UTC)
    for namespace in sorted(set(namespaces)):
        place = await read_place(client, namespace)
        ours = [each for each in changed if each["metadata"]["namespace"] == namespace]
        found.extend(foreseen(place, place.after(ours), moment))
    return found


def foreseen(now: Place, then: Place, moment: datetime.datetime) -> list[Outlook]:
    """Pure."""
    before, after = _prospects(now, moment), _prospects(then, moment)
    moving = {ref: each for ref, each in after.items() if not _is_stuck(each)}
    staying = {ref: each for ref, each in before.items() if ref in after}
    news = [each for ref in sorted(after) for each in _news(ref, before.get(ref), after[ref])]
    return [*compared(_trees(before), _trees({**staying, **moving})), *news]


def _prospects(place: Place, moment: datetime.datetime) -> dict[Ref, Prospect]:
    return {ref: Prospect(at, decide(at)) for ref, at in place.situations(moment).items()}


def _is_stuck(prospect: Prospect) -> bool:
    """The operator leaves such a cluster as it is."""
    return bool(prospect.problems or prospect.decision.lost)


def _news(ref: Ref, before: Prospect | None, after: Prospect) -> Iterator[Outlook]:
    """What of the templates would not reach the cluster, if that is news."""
    if after.problems and (before is None or before.problems != after.problems):
        yield Outlook(Verdict.REFUSED, ref, told=f"it would be stalled: {after.problems}")
    available = "" if before is None else before.decision.available
    notice = after.decision.notice
    if not notice.is_available or after.decision.available == available:
        return
    if notice.reason == reasons.UPDATE_REFUSED:
        yield Outlook(Verdict.REFUSED, ref, told=notice.message)
    else:
        yield Outlook(Verdict.WAITS, ref, told=f"{_WAITS[notice.reason]}: {notice.message}")


def _trees(prospects: dict[Ref, Prospect]) -> dict[Ref, Manifest]:
    return {ref: manifest for each in prospects.values() for ref, manifest in each.tree.items()}


def compared(now: dict[Ref, Manifest], then: dict[Ref, Manifest]) -> list[Outlook]:
    """Pure."""
    created = [Outlook(Verdict.CREATE, ref) for ref in then if ref not in now]
    deleted = [_parting(ref) for ref in now if ref not in then]
    others = [ref for ref in then if ref in now and now[ref] != then[ref]]
    both = ((ref, tuple(difference(_bare(now[ref]), _bare(then[ref])))) for ref in others)
    return [*deleted, *(Outlook(Verdict.CHANGE, ref, diff) for ref, diff in both if diff), *created]


def _parting(ref: Ref) -> Outlook:
    if ref.kind == PERSISTENT_VOLUME_CLAIM:
        return Outlook(Verdict.UNKNOWN, ref, told=_UNUSED)
    return Outlook(Verdict.DELETE, ref, told=_GONE)


def _bare(value: Any) -> Any:
    """Without what was left out: a value that is not there is no line of a diff."""
    if isinstance(value, dict):
        return {key: _bare(each) for key, each in value.items() if each is not UNSET}
    if isinstance(value, list | tuple):
        return [_bare(each) for each in value]
    return msgspec.to_builtins(value)
