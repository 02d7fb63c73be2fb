"""Plans the children of an owner: applies the desired ones, deletes by uid those that are no longer desired."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import HasMetadata, ObjectMeta, controller_of, key_of
from steward.multigres.controllers.common.reporting import REPORTED_KINDS
from steward.multigres.deletion.terminating_children import terminating_component
from steward.multigres.rollout.live_selectors import with_live_selector
from steward.multigres.status.conditions import ComponentStatus
from steward.runtime.plan.steps import Apply, Delete, Plan

NO_LONGER_DESIRED = "it is no longer desired"


class UnwantedChild(NamedTuple):
    """A child that is no longer desired."""

    ref: Ref
    live: Any

    def delete_step(self) -> Delete:
        return Delete(self.ref, self.live.metadata.uid, NO_LONGER_DESIRED)


class Children:
    def __init__(self, store_of: Callable[[Kind], Store[Any]]) -> None:
        self._store_of = store_of

    def plan_children(
        self, owner: ObjectMeta, desired: Sequence[Manifest], rules: Iterable[CacheRule[Any]]
    ) -> Plan:
        """The steps that make `desired`, and nothing else, the children of `owner` among the kinds of `rules`."""
        unwanted = self.unwanted_children(owner, desired, rules)
        return (*self.apply_steps(desired), *(child.delete_step() for child in unwanted))

    def apply_steps(self, desired: Sequence[Manifest]) -> Plan:
        """Skips objects that are terminating: a later reconcile creates them again once they are gone."""
        return tuple(
            Apply(with_live_selector(manifest, live := self._live(ref)), only_if_absent=live is None)
            for manifest in desired
            if not self._is_terminating(ref := ref_of(manifest))
        )

    def unwanted_children(
        self, owner: ObjectMeta, desired: Sequence[Manifest], rules: Iterable[CacheRule[Any]]
    ) -> list[UnwantedChild]:
        """The children of `owner` that are not in `desired`, except those that are already terminating."""
        refs = {ref_of(manifest) for manifest in desired}
        return [
            UnwantedChild(Ref(rule.kind, key_of(live)), live)
            for rule in rules
            for live in sorted(self._store_of(rule.kind).by_owner(owner.uid), key=_name)
            if Ref(rule.kind, key_of(live)) not in refs and may_delete_child(live, owner)
        ]

    def terminating(self, desired: Iterable[Manifest]) -> list[ComponentStatus]:
        """Components for the desired objects that are being deleted."""
        found = (self._terminating(ref_of(manifest)) for manifest in desired)
        return [component for component in found if component is not None]

    def _terminating(self, ref: Ref) -> ComponentStatus | None:
        live = self._live(ref)
        if live is None:
            return None
        return terminating_component(
            ref, live.metadata, live.status.conditions if ref.kind in REPORTED_KINDS else UNSET
        )

    def _live(self, ref: Ref) -> Any:
        return self._store_of(ref.kind).get(ref.key)

    def _is_terminating(self, ref: Ref) -> bool:
        live = self._live(ref)
        return live is not None and live.metadata.deletion_timestamp is not None


def may_delete_child(live: HasMetadata, owner: ObjectMeta) -> bool:
    """Whether `owner` is the controller of an object that is not terminating yet."""
    if live.metadata.deletion_timestamp is not None:
        return False
    controller = controller_of(live.metadata)
    return controller is not None and controller.uid == owner.uid


def _name(live: HasMetadata) -> str:
    return live.metadata.name
