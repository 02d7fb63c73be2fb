"""Objects as a family: who belongs to whom, and how each of them is. Pure.

An object belongs to the one that its controller reference names. A Tenant belongs to the registry of its label: no
reference names that, so that the registry's end is never the Tenant's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec

from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind, Manifest, Ref, kind_of, ref_of
from steward.kube.objects.readiness import Failed, NotYet, readiness_of
from steward.multigres.status.pod_problems import pod_trouble
from steward.multigres.views import PodView

TENANTS = "operator.kubernetes-tenants.org/v1"
MULTIGRES = "multigres.com/v1alpha1"
REGISTRY_LABEL = "kubernetes-tenants.org/registry"
ROOTS = (
    Kind(MULTIGRES, "MultigresCluster"),
    Kind(TENANTS, "TenantRegistry"),
    Kind(TENANTS, "TenantTemplate"),
)
KINDS = (
    *ROOTS,
    *(Kind(MULTIGRES, name) for name in ("TopoServer", "Cell", "TableGroup", "Shard")),
    Kind(TENANTS, "Tenant"),
    kinds.DEPLOYMENT,
    kinds.STATEFUL_SET,
    Kind("apps/v1", "ReplicaSet"),
    kinds.POD,
    kinds.PERSISTENT_VOLUME_CLAIM,
)
"""What is read. The order is the order of siblings."""
_TOLD = tuple(kind for kind in KINDS if kind.api_version in (MULTIGRES, TENANTS))
NOBODY = "no operator has looked at it yet"


class Health(IntEnum):
    """Worst first, so that sorting puts problems on top."""

    FAILED = 0
    WAITING = 1
    READY = 2


class Member(NamedTuple):
    """One object of a family."""

    ref: Ref
    uid: str
    owner: str
    """The uid of what it belongs to; "" for a root."""
    health: Health
    message: str
    since: str
    """When it became so, where it says."""


class Branch(NamedTuple):
    member: Member
    children: tuple[Branch, ...]

    def walk(self) -> Iterator[Member]:
        yield self.member
        for child in self.children:
            yield from child.walk()

    @property
    def is_well(self) -> bool:
        return all(member.health is Health.READY for member in self.walk())


def families(objects: Iterable[Manifest]) -> tuple[Branch, ...]:
    """The trees that the objects form. What belongs to nobody of them and is no root is left out."""
    members = [_member(found) for found in objects]
    registries = {
        (member.ref.key.namespace, member.ref.key.name): member.uid
        for member in members
        if member.ref.kind.kind == "TenantRegistry"
    }
    members = [_placed(member, registries) for member in members]
    below: dict[str, list[Member]] = {}
    for member in members:
        below.setdefault(member.owner, []).append(member)
    known = {member.uid for member in members}
    roots = [m for m in members if m.ref.kind in ROOTS and m.owner not in known]
    return tuple(_branch(root, below) for root in sorted(roots, key=_order))


def _branch(member: Member, below: dict[str, list[Member]]) -> Branch:
    children = (_branch(child, below) for child in sorted(below.get(member.uid, ()), key=_order))
    return Branch(member, tuple(children))


def _order(member: Member) -> tuple[int, int, str]:
    return member.health, KINDS.index(member.ref.kind), str(member.ref.key)


def _placed(member: Member, registries: dict[tuple[str, str], str]) -> Member:
    if member.ref.kind.kind != "Tenant":
        return member
    return member._replace(owner=registries.get((member.ref.key.namespace, member.owner), ""))


def _member(found: Manifest) -> Member:
    meta = found["metadata"]
    health, message = _health(found)
    return Member(ref_of(found), meta["uid"], _owner(found), health, message, _since(found))


def _owner(found: Manifest) -> str:
    meta = found["metadata"]
    if found["kind"] == "Tenant":
        return str((meta.get("labels") or {}).get(REGISTRY_LABEL, ""))
    owners = meta.get("ownerReferences") or []
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def _health(found: Manifest) -> tuple[Health, str]:
    if kind_of(found) == kinds.PERSISTENT_VOLUME_CLAIM:
        phase = (found.get("status") or {}).get("phase", "")
        return (Health.READY, "") if phase == "Bound" else (Health.WAITING, f"is {phase or 'new'}")
    if kind_of(found) == kinds.POD and (stuck := _pod_trouble(found)):
        return stuck
    if kind_of(found) in _TOLD and not (found.get("status") or {}).get("conditions"):
        return Health.WAITING, NOBODY
    told = _condition(found, "Degraded")
    if told is not None and told.get("status") == "True":
        return Health.FAILED, str(told.get("message", ""))
    held = _condition(found, "DeletionHeld")
    if held is not None and held.get("status") == "True":
        return Health.FAILED, str(held.get("message", ""))
    verdict = readiness_of(found)
    if isinstance(verdict, Failed):
        return Health.FAILED, verdict.why
    if rejected := _rejected(found):
        return Health.FAILED, rejected
    return (
        (Health.WAITING, _waits_for(found, verdict.why))
        if isinstance(verdict, NotYet)
        else (Health.READY, "")
    )


def _rejected(found: Manifest) -> str:
    """Of a registry that reads its table well, the first row that cannot become a Tenant."""
    status = found.get("status") or {}
    rows, count = status.get("rejected") or (), status.get("rejectedRows", 0)
    if not rows:
        return ""
    first = f"row {rows[0].get('uid')!r}: {rows[0].get('reason')}"
    return (
        f"{count} row is rejected: {first}"
        if count == 1
        else f"{count} rows are rejected, among them {first}"
    )


def _pod_trouble(found: Manifest) -> tuple[Health, str] | None:
    view = msgspec.convert(found, PodView)
    if told := pod_trouble(view):
        return Health.FAILED, told
    scheduled = _condition(found, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        # What the scheduler says after its first sentence is about preemption and claims, and changes all the time.
        told = str(scheduled.get("message", "")).partition(". ")[0]
        return Health.WAITING, f"cannot be scheduled: {told}"
    return None


def _waits_for(found: Manifest, why: str) -> str:
    ready = _condition(found, "Ready")
    if ready is not None and ready.get("status") != "True" and ready.get("message"):
        return str(ready["message"])
    return why


def _since(found: Manifest) -> str:
    for type_ in ("DeletionHeld", "Degraded", "Stalled", "Ready"):
        told = _condition(found, type_)
        if told is not None and (told.get("status") == "True" or type_ == "Ready"):
            return str(told.get("lastTransitionTime", ""))
    return str(found["metadata"].get("creationTimestamp", ""))


def _condition(found: Manifest, type_: str) -> dict[str, Any] | None:
    status = found.get("status")
    listed = status.get("conditions") if isinstance(status, dict) else None
    return next((each for each in listed or () if each.get("type") == type_), None)
