"""What all five controllers stand on: the stores, the carrier, the clock, and the rule for children.

A parent keeps exactly the children that its spec asks for: what is missing or was edited is put back, what is no longer
asked for goes, by uid. An object of somebody else that stands under a name of ours is never adopted and never changed.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import UNSET

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Change, Store
from steward.kube.errors import NotFound
from steward.kube.objects.conditions import READY, TRUE
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, SECRET, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import HasMetadata, Metadata, ObjectMeta, controller_of, key_of
from steward.multigres import reasons
from steward.multigres.api.scalars import Unset
from steward.multigres.api.status import Conditions
from steward.multigres.cache_rules import CELL, CLUSTER, SHARD, TABLE_GROUP, TOPO_SERVER, Rules
from steward.multigres.controllers.common.foreign_objects import Neighbours
from steward.multigres.controllers.common.manifest_cache import Drafts
from steward.multigres.controllers.common.memoizing_executor import SparingCarrier
from steward.multigres.controllers.common.nodes import Nodes
from steward.multigres.controllers.common.primaries import Primaries
from steward.multigres.controllers.common.status_contributions import Remarks
from steward.multigres.controllers.common.volume_bindings import Bindings
from steward.multigres.deletion.annotations import ENABLED, Grace
from steward.multigres.deletion.draining import Connections, unknown_connections
from steward.multigres.deletion.terminating_children import going_piece
from steward.multigres.deletion_metrics import DeletionFigures
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY
from steward.multigres.resolution.layers import given
from steward.multigres.status.conditions import (
    Look,
    Piece,
    Stall,
    is_bad_news,
    is_held_up,
    is_urgent,
    serves,
    transitions,
    unready_since,
    was_in_trouble,
)
from steward.multigres.status.pod_problems import first_hint, first_trouble
from steward.multigres.views import ClaimView, PodView
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.plan.steps import Apply, Delete, Emit, EventType, Plan, Requeue, Status
from steward.runtime.status.throttle import LONGEST_SECONDS, News, Pace, content_of

NO_LONGER_ASKED_FOR = "it is no longer asked for"
PROGRESS_SECONDS = 5.0
UPDATE_SECONDS = 30.0
"""How often the progress of what serves already is told: somebody changed it and looks on."""
REPORTED = frozenset({CLUSTER, TOPO_SERVER, CELL, TABLE_GROUP, SHARD})
"""Kinds with a status of ours."""


class ReportedStatus(Protocol):
    @property
    def conditions(self) -> Conditions | Unset: ...

    @property
    def observed_generation(self) -> int | Unset: ...


class Reported(Protocol):
    """A custom resource as its controller last reported on it."""

    @property
    def status(self) -> ReportedStatus: ...


class Surplus(NamedTuple):
    """A child that nobody asks for any more."""

    ref: Ref
    seen: Any


class ControllerContext:
    def __init__(self, manager: Manager, settings: Settings) -> None:
        self.rules = Rules(settings.namespace, settings.namespaces)
        self.client = manager.client
        self._stores: dict[Kind, Store[Any]] = {}
        self.executor = SparingCarrier(manager.executor(FIELD_MANAGER), self._stores.get)
        self.drafts = Drafts()
        self.clock = manager.connection.clock
        self.figures = DeletionFigures(manager.metrics.registry)
        self.connections: Connections = unknown_connections
        self.grace = Grace(
            settings.default_graceful_shutdown_period,
            settings.max_graceful_shutdown_period,
            settings.etcd_deletion_protection_default == ENABLED,
        )
        self.primaries = Primaries(self.clock)
        self.nodes = Nodes(self.client, self.clock)
        self._manager = manager
        self.remarks = Remarks()
        self.neighbours = Neighbours(self.client, self.clock)
        self._pace = Pace(self.clock)
        self._bindings = Bindings(self.clock)

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        found = self._stores.get(rule.kind)
        if found is None:
            found = self._stores[rule.kind] = self._manager.store(rule)
            if rule.kind in REPORTED:
                found.subscribe(self._forget_gone)
            elif rule.kind == PERSISTENT_VOLUME_CLAIM:
                found.subscribe(self._bindings.hear)
        return found

    def _forget_gone(self, change: Change[Any]) -> None:
        if change.new is None:
            self.remarks.forget(Ref(change.kind, change.key))
            self._settled(Ref(change.kind, change.key))

    def _settled(self, ref: Ref) -> None:
        """What is remembered only for the time in which an object is looked at again and again."""
        self._pace.forget(ref)
        self.drafts.forget(ref)
        self.executor.forget(ref)

    def of_kind(self, kind: Kind) -> Store[Any]:
        return self._stores[kind]

    def now(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock.now()))

    def look(self, pods: Iterable[PodView], claims: Iterable[ClaimView] = ()) -> Look:
        """What the pods and volumes of a component tell beyond their numbers."""
        seen, volumes = list(pods), list(claims)
        return Look(first_trouble(seen, volumes), first_hint(seen, volumes, self._bindings.moment()))

    def report(self, ref: Ref, seen: Reported, status: Manifest) -> Plan:
        """Writes what is urgent, and of what is ready, at once; progress when it is due. The unready is seen again."""
        before = seen.status
        status = self.remarks.added(ref, before, status, self.now())
        told = (Status(ref, status), *_events(ref, before.conditions, status))
        if any(c["type"] == READY and c["status"] == TRUE for c in status["conditions"]):
            self._settled(ref)
            return told
        news = self._news(before, status)
        if not _is_urgent(ref, before, status):
            wait = self._pace.seconds_to_wait(ref, news)
            if wait:
                return (Requeue(min(wait, PROGRESS_SECONDS)),)
        self._pace.told(ref, news)
        return (*told, Requeue(PROGRESS_SECONDS))

    def _news(self, before: ReportedStatus, status: Manifest) -> News:
        age = max(0.0, self.clock.now() - unready_since(status))
        longest = UPDATE_SECONDS if serves(before.conditions) else LONGEST_SECONDS
        return News(content_of(status), is_held_up(status), age, longest)

    async def strangers(self, desired: Sequence[Manifest]) -> frozenset[Ref]:
        """Objects of others under names that we need. Asked of the server only for what our caches do not hold."""
        unseen = [ref for manifest in desired if not self._is_known(ref := ref_of(manifest))]
        found = await asyncio.gather(*(self._is_stranger(ref) for ref in unseen))
        return frozenset(ref for ref, strange in zip(unseen, found, strict=True) if strange)

    def _shows_all(self, kind: Kind) -> bool:
        """Whether the cache of a kind holds the objects of others as well: what it lacks is not there."""
        store = self.of_kind(kind)
        return store.synced and all(selector == "" for selector in store.rule.selectors.values())

    def _is_known(self, ref: Ref) -> bool:
        seen = self.of_kind(ref.kind).get(ref.key)
        return seen is not None and is_ours(seen)

    async def _is_stranger(self, ref: Ref) -> bool:
        if self._shows_all(ref.kind) and self.of_kind(ref.kind).get(ref.key) is None:
            return False
        # Secrets of others are nobody's business, not even their names: only the one in question is looked at.
        if ref.kind != SECRET and not await self.neighbours.may_have(ref):
            return False
        try:
            found = await self.client.get(ref.kind, ref.key, Metadata)
        except NotFound:
            return False
        return not is_ours(found)

    def keep(self, owner: ObjectMeta, desired: Sequence[Manifest], rules: Iterable[CacheRule[Any]]) -> Plan:
        """The steps that make `desired`, and nothing else, the children of `owner` among the kinds of `rules`."""
        surplus = [delete_surplus(each) for each in self.surplus(owner, desired, rules)]
        return (*self.put(desired), *surplus)

    def put(self, desired: Sequence[Manifest]) -> Plan:
        """Applies what is wanted; what is still going under the same name is made anew once it is gone."""
        return tuple(
            Apply(manifest, only_if_absent=self.of_kind(ref.kind).get(ref.key) is None)
            for manifest in desired
            if not self._is_going(ref := ref_of(manifest))
        )

    def _is_going(self, ref: Ref) -> bool:
        seen = self.of_kind(ref.kind).get(ref.key)
        return seen is not None and seen.metadata.deletion_timestamp is not None

    def going(self, desired: Iterable[Manifest]) -> list[Piece]:
        """What is asked for and being deleted all the same."""
        return [piece for manifest in desired if (piece := self._going(ref_of(manifest))) is not None]

    def _going(self, ref: Ref) -> Piece | None:
        seen = self.of_kind(ref.kind).get(ref.key)
        if seen is None:
            return None
        return going_piece(ref, seen.metadata, seen.status.conditions if ref.kind in REPORTED else UNSET)

    def surplus(
        self, owner: ObjectMeta, desired: Sequence[Manifest], rules: Iterable[CacheRule[Any]]
    ) -> list[Surplus]:
        """The children of `owner` that nobody asks for any more, except those already on their way out."""
        wanted = {ref_of(manifest) for manifest in desired}
        return [
            Surplus(Ref(rule.kind, key_of(seen)), seen)
            for rule in rules
            for seen in sorted(self.store(rule).by_owner(owner.uid), key=lambda known: known.metadata.name)
            if Ref(rule.kind, key_of(seen)) not in wanted and goes_with_its_owner(seen, owner)
        ]


def _is_urgent(ref: Ref, before: ReportedStatus, status: Manifest) -> bool:
    """That a part of a new cluster comes up is told by the cluster: the first word on the part itself can wait."""
    if ref.kind != CLUSTER and not given(before.observed_generation, 0):
        return is_bad_news(before.conditions, status)
    return is_urgent(before.conditions, before.observed_generation, status)


def _events(ref: Ref, before: Conditions | Unset, status: Manifest) -> Plan:
    """After the status: what could not be written has not been told either, and comes again.

    That a part of a cluster is ready is told by the cluster: of the part itself only trouble is news, and its end.
    """
    return tuple(
        Emit(ref, told.reason, told.message, EventType.WARNING if told.is_bad else EventType.NORMAL)
        for told in transitions(before, status["conditions"])
        if told.is_bad or ref.kind == CLUSTER or was_in_trouble(before)
    )


def delete_surplus(surplus: Surplus) -> Delete:
    return Delete(surplus.ref, surplus.seen.metadata.uid, NO_LONGER_ASKED_FOR)


def is_ours(seen: HasMetadata) -> bool:
    return seen.metadata.labels.get(MANAGED_BY) == FIELD_MANAGER


def goes_with_its_owner(seen: HasMetadata, owner: ObjectMeta) -> bool:
    if seen.metadata.deletion_timestamp is not None:
        return False
    controller = controller_of(seen.metadata)
    return controller is not None and controller.uid == owner.uid


def stall_of(strangers: frozenset[Ref]) -> Stall | None:
    if not strangers:
        return None
    names = ", ".join(sorted(str(ref) for ref in strangers))
    cure = "rename or delete it, or rename the cluster"
    return Stall(
        reasons.NAME_TAKEN, f"{names} belongs to somebody else and stands under a name of ours: {cure}"
    )
