"""Status contributions: conditions and fields of other controllers, merged in by the controller that writes the status.

The topology and certificates controllers work at intervals of their own, and each has a condition to report about a
cluster or a shard. If each wrote it itself, an object would be written three times for one status. Instead a
contribution is stored here, triggers the object's controller, and becomes part of its next status. Contributions are
not kept over a restart: until a controller contributes again, the previous values of the status stay.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from steward.kube.objects.conditions import Condition, condition_manifests, set_conditions
from steward.kube.objects.kinds import Kind, Manifest, Ref
from steward.multigres.status.conditions import read_conditions
from steward.runtime.controller.triggers import Channel
from steward.runtime.plan.executor import PlanResult, StepEffect, StepResult
from steward.runtime.plan.steps import Plan, Status

TOPOLOGY = "topology"
CERTIFICATES = "certificates"
BACKUPS = "backups"
SETTINGS = "settings"
GATEWAY_CERTIFICATES = "gateway-certificates"
FIELDS = {
    TOPOLOGY: ("primaryCell",),
    CERTIFICATES: ("backupCertificate", "backupCertificateRenewals", "backupCertificateExpiry"),
    BACKUPS: ("backup",),
    GATEWAY_CERTIFICATES: ("gatewayCertificateExpiry",),
}
"""The fields of a Shard's or a cluster's status that each contributor sets."""


class StatusContribution(msgspec.Struct, frozen=True):
    conditions: tuple[Condition, ...]
    fields: dict[str, Any]


class StatusContributions:
    def __init__(self) -> None:
        self._contributions: dict[Ref, dict[str, StatusContribution]] = {}
        self._channels: dict[Kind, Channel] = {}

    def channel(self, kind: Kind) -> Channel:
        """Triggers the controller of a kind when a contribution to one of its objects changes."""
        return self._channels.setdefault(kind, Channel())

    def set(self, ref: Ref, contributor: str, contribution: StatusContribution) -> None:
        contributions = self._contributions.setdefault(ref, {})
        if contributions.get(contributor) != contribution:
            contributions[contributor] = contribution
            self.channel(ref.kind).enqueue(ref.key)

    def confirm(self, ref: Ref, contributor: str, generation: int) -> None:
        """The contribution, if there is one, holds for this generation, too: nothing that it depends on was edited."""
        known = self._contributions.get(ref, {}).get(contributor)
        if known is not None:
            conditions = tuple(
                msgspec.structs.replace(condition, observed_generation=generation)
                for condition in known.conditions
            )
            self.set(ref, contributor, StatusContribution(conditions, known.fields))

    def has(self, ref: Ref, contributor: str) -> bool:
        return contributor in self._contributions.get(ref, {})

    def forget(self, ref: Ref) -> None:
        self._contributions.pop(ref, None)

    def merge_into(self, ref: Ref, previous: Any, status: Manifest, now: str) -> Manifest:
        """The status with all contributions; of contributors that have set none yet, with the previous values."""
        contributions = self._contributions.get(ref, {})
        contributed = [condition for each in contributions.values() for condition in each.conditions]
        fields: dict[str, Any] = {}
        for contributor, names in FIELDS.items():
            known = contributions.get(contributor)
            fields |= _previous_fields(previous, names) if known is None else known.fields
        if not contributed:
            return {**status, **fields}
        own = msgspec.convert(status["conditions"], tuple[Condition, ...])
        return {**status, **fields, "conditions": _merge_conditions(own, previous, contributed, now)}


def _merge_conditions(
    own: tuple[Condition, ...], previous: Any, contributed: list[Condition], now: str
) -> list[dict[str, Any]]:
    """Each condition stays at its place in the previous status: after a restart the contributors report in another
    order, and conditions in another order are a write."""
    types = {condition.type for condition in contributed}
    known = read_conditions(previous.conditions)
    old = tuple(condition for condition in known if condition.type in types)
    merged = {condition.type: condition for condition in set_conditions(old, contributed, now)}
    placed = [merged.pop(condition.type, condition) for condition in own]
    return condition_manifests((*placed, *merged.values()))


def _previous_fields(previous: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if not any(name in type(previous).__struct_encode_fields__ for name in names):
        return {}
    written: dict[str, Any] = msgspec.to_builtins(previous)
    return {name: written[name] for name in names if name in written}


class StatusContributor:
    """Executes the plans of a controller that writes no status of its own: each Status step becomes a contribution."""

    def __init__(self, contributions: StatusContributions, name: str) -> None:
        self._contributions = contributions
        self._name = name

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        for step in plan:
            if isinstance(step, Status):
                self._contributions.set(step.ref, self._name, _contribution(step.status))
        return PlanResult([StepResult(step, StepEffect.EMITTED) for step in plan])

    def confirm(self, ref: Ref, generation: int) -> None:
        self._contributions.confirm(ref, self._name, generation)


def _contribution(status: Manifest) -> StatusContribution:
    """Without transition times: they are set when the status is written."""
    if "conditions" not in status:
        return StatusContribution((), status)
    conditions = tuple(
        msgspec.structs.replace(condition, last_transition_time=None)
        for condition in msgspec.convert(status["conditions"], tuple[Condition, ...])
    )
    fields = {name: value for name, value in status.items() if name != "conditions"}
    return StatusContribution(conditions, fields)
