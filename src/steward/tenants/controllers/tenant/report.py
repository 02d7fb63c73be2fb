"""Writes a Tenant's status and events: what is about to be made, how far it is, and why it goes no further.

While objects come up a status is written when they have stopped to (see `runtime.pace`); whatever ends the waiting,
good or bad, is written at once.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from steward.kube.objects.kinds import Manifest, Ref
from steward.runtime.plan.steps import Plan, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.runtime.status.throttle import News, Pace, content_of
from steward.tenants import reasons
from steward.tenants.api.tenant import AppliedObject
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.common.document import Document
from steward.tenants.controllers.tenant.events import (
    became_ready,
    events_of,
    told_before,
    trouble_told,
    troubles_of,
)
from steward.tenants.controllers.tenant.prune import Left
from steward.tenants.controllers.tenant.state import TenantMemory, Told
from steward.tenants.objects.desired import Wanted
from steward.tenants.objects.orphans import Applied
from steward.tenants.status.progress import Progress, State
from steward.tenants.status.tenant import Before, Trouble, announced, is_urgent, status_of, tally, troubled

LEFT_SECONDS: Final = 5.0


class Work(NamedTuple):
    """One look at a Tenant."""

    document: Document
    memory: TenantMemory
    wanted: tuple[Wanted, ...]


class Reporter:
    def __init__(self, context: ControllerContext) -> None:
        self.executor = context.executor
        self._now = context.now
        self._pace = Pace(context.clock)

    def before(self, document: Document) -> Before:
        return Before(document.status, document.metadata.generation, self._now())

    async def announce(self, work: Work, orphans: Iterable[Applied]) -> Work:
        """Writes down what is about to be made, if any of it is new. What was written is what the Tenant says now."""
        document = work.document
        known = set(document.recorded)
        if all(each.applied in known for each in work.wanted):
            return work
        records = [*_records(work), *_records_of(orphans, document)]
        status = announced(self.before(document), len(work.wanted), records)
        await self.executor.execute((Status(document.ref, status),), document.ref)
        self._pace.told(document.ref, _news(status))
        return work._replace(document=document.saying(status))

    async def stall(self, document: Document, memory: TenantMemory, trouble: Trouble) -> None:
        before = self.before(document)
        events = _events(document, memory, before, trouble_told(trouble))
        status = Status(document.ref, troubled(before, trouble))
        await self.executor.execute((*events, status), document.ref)

    async def report(self, work: Work, progress: list[Progress], left: list[Left]) -> Result:
        document, memory = work.document, work.memory
        before = self.before(document)
        progress = [*progress, *map(_lingering, (each for each in left if each.problem))]
        remaining = _records_of((each.applied for each in left), document)
        status = status_of(before, progress, [*_records(work), *remaining])
        events = _events(document, memory, before, troubles_of(progress))
        steps: Plan = (*events, *became_ready(document.ref, before.conditions, progress))
        wait = self._wait(document.ref, before, status, progress)
        if not wait:
            steps = (*steps, Status(document.ref, status))
        await self.executor.execute(steps, document.ref)
        if not wait:
            memory.records.clear()  # the status holds them now, and is read at the next look
        again = [each.look_again_after for each in progress if each.look_again_after is not None]
        again += [LEFT_SECONDS] * bool(remaining) + [wait] * bool(wait)
        return RequeueAfter(min(again)) if again else DONE

    def _wait(self, ref: Ref, before: Before, status: Manifest, progress: list[Progress]) -> float:
        if not tally(progress).under_way:
            self.forget(ref)
            return 0.0
        if is_urgent(before, status):
            self._pace.told(ref, _news(status))
            return 0.0
        return self.seconds_to_wait(ref, status)

    def seconds_to_wait(self, ref: Ref, status: Manifest) -> float:
        """How long a status that only tells of progress has to wait for its turn; when it has come, it is taken."""
        news = _news(status)
        wait = self._pace.seconds_to_wait(ref, news)
        if not wait:
            self._pace.told(ref, news)
        return wait

    def forget(self, ref: Ref) -> None:
        """It is ready, in trouble, or gone: nothing of it waits to be told."""
        self._pace.forget(ref)


def _news(status: Manifest) -> News:
    return News(content_of(status))


def _lingering(left: Left) -> Progress:
    return Progress(left.applied.key, State.LINGERING, left.problem, event=reasons.APPLY_FAILED)


def _events(document: Document, memory: TenantMemory, before: Before, now: frozenset[Told]) -> Plan:
    was = told_before(now, before.conditions) if memory.told is None else memory.told
    memory.told = now
    return events_of(document.ref, now, was)


def _records(work: Work) -> list[AppliedObject]:
    found = []
    for each in work.wanted:
        known = work.memory.records.get(each.ref)
        found.append(known if known is not None and known.id == each.id else each.record())
    return found


def _records_of(objects: Iterable[Applied], document: Document) -> list[AppliedObject]:
    """The records of objects that are to go and are not gone: kept until they are."""
    known = {(each.kind, each.namespace, each.name, each.id): each for each in document.records}
    return [
        known.get(found[1:5])
        or AppliedObject(
            api_version=found.api_version,
            kind=found.kind,
            namespace=found.namespace,
            name=found.name,
            id=found.id,
        )
        for found in objects
    ]
