"""What other controllers have to say in an object's status, handed to the one controller that writes it.

The records in a topology server and the certificates of backups are looked after at a pace of their own, and each has a
word to say about a cluster or a shard. If each wrote it there itself, an object would be written three times for what
one status tells. So a remark waits here, wakes the object's controller, and goes out with its next status. Remarks are
not kept over a restart: until one is made again, what the status says already stays.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from steward.kube.objects.conditions import Condition, set_conditions, write_conditions
from steward.kube.objects.kinds import Kind, Manifest, Ref
from steward.multigres.status.conditions import read_conditions
from steward.runtime.controller.triggers import Channel
from steward.runtime.plan.executor import Effect, PlanResult, StepResult
from steward.runtime.plan.steps import Plan, Status

TOPOLOGY = "topology"
CERTIFICATES = "certificates"
FIELDS = {TOPOLOGY: ("primaryCell",), CERTIFICATES: ("backupCertificate", "backupCertificateRenewals")}
"""The fields of a Shard's status that tell what a remark said."""


class Remark(msgspec.Struct, frozen=True):
    conditions: tuple[Condition, ...]
    fields: dict[str, Any]


class Remarks:
    def __init__(self) -> None:
        self._made: dict[Ref, dict[str, Remark]] = {}
        self._channels: dict[Kind, Channel] = {}

    def channel(self, kind: Kind) -> Channel:
        """Over which the controller of a kind hears that there is something to tell."""
        return self._channels.setdefault(kind, Channel())

    def make(self, ref: Ref, who: str, remark: Remark) -> None:
        made = self._made.setdefault(ref, {})
        if made.get(who) != remark:
            made[who] = remark
            self.channel(ref.kind).tell(ref.key)

    def forget(self, ref: Ref) -> None:
        self._made.pop(ref, None)

    def added(self, ref: Ref, before: Any, status: Manifest, now: str) -> Manifest:
        """The status with what others have to say in it; where they have not spoken yet, with what it said before."""
        made = self._made.get(ref, {})
        conditions = [condition for remark in made.values() for condition in remark.conditions]
        fields: dict[str, Any] = {}
        for who, names in FIELDS.items():
            fields |= made[who].fields if who in made else _kept(before, names)
        if not conditions:
            return {**status, **fields}
        known = msgspec.convert(status["conditions"], tuple[Condition, ...])
        return {**status, **fields, "conditions": _with(known, before, conditions, now)}


def _with(
    told: tuple[Condition, ...], before: Any, remarked: list[Condition], now: str
) -> list[dict[str, Any]]:
    types = {condition.type for condition in remarked}
    old = tuple(known for known in read_conditions(before.conditions) if known.type in types)
    own = tuple(condition for condition in told if condition.type not in types)
    return write_conditions((*own, *set_conditions(old, remarked, now)))


def _kept(before: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if not any(name in type(before).__struct_encode_fields__ for name in names):
        return {}
    written: dict[str, Any] = msgspec.to_builtins(before)
    return {name: written[name] for name in names if name in written}


class RemarkCarrier:
    """Carries out the plans of a controller that has nothing to write but remarks."""

    def __init__(self, remarks: Remarks, who: str) -> None:
        self._remarks = remarks
        self._who = who

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        for step in plan:
            if isinstance(step, Status):
                self._remarks.make(step.ref, self._who, _remark(step.status))
        return PlanResult([StepResult(step, Effect.TOLD) for step in plan])


def _remark(status: Manifest) -> Remark:
    """Without times: when something became so is known when it is written."""
    told = msgspec.convert(status.get("conditions", ()), tuple[Condition, ...])
    conditions = tuple(msgspec.structs.replace(each, last_transition_time=None) for each in told)
    return Remark(conditions, {name: value for name, value in status.items() if name != "conditions"})
