"""Which objects and fields belong to a Tenant, and the messages for those that do not. Pure.

An object belongs to a Tenant by its tracking labels or by an owner reference. An orphan, which carries the orphan
label, may be adopted by any Tenant.

On an object of the Tenant, an apply learns from the API server's conflict which manager owns a field. `merge` and
`replace` never conflict, so the manager of a changed field is read from managedFields: without it, a manager that keeps
changing the same field could not be named in a conflict, and the operator would change it back forever.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from steward.kube.errors import FieldConflict
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.meta import ObjectMeta, controller_of
from steward.tenants.labels import FIELD_MANAGER, ORPHANED, SEEDING_MANAGER, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.orphans import TenantOwner, is_owned, reference_manifest

OBJECT_CURE: Final = "Check the namespace, review nameTemplate, or set conflictPolicy: Force"
FIELD_CURE: Final = (
    "List the field in ignoreFields, take it out of the template, or set conflictPolicy: Force"
)
CONTEST_CURE: Final = "List the field in ignoreFields, or take it out of the template"
LYNQ_GROUP: Final = "operator.lynq.sh/"
UNKNOWN_MANAGER: Final = "another client"
OUR_MANAGERS: Final = frozenset((FIELD_MANAGER, SEEDING_MANAGER, f"{FIELD_MANAGER}-heal"))


def may_touch(meta: ObjectMeta, owner: TenantOwner) -> bool:
    """Whether the Tenant may write to the object without taking it from another owner."""
    return is_owned(meta, owner) or is_orphan(meta)


def is_of_namesake(meta: ObjectMeta, owner: TenantOwner) -> bool:
    """Whether another Tenant of the same name owns the object: an earlier one, or, after a restore, the present one."""
    tenants = {each.uid for each in meta.owner_references if (each.kind, each.name) == ("Tenant", owner.name)}
    return bool(tenants) and owner.uid not in tenants


def is_orphan(meta: ObjectMeta) -> bool:
    """Orphaned by a Tenant, and not adopted by another since."""
    return meta.labels.get(ORPHANED) == "true" and TENANT not in meta.labels


def release_patch(meta: ObjectMeta) -> dict[str, Any] | None:
    """A merge patch that removes the owner references to LynqNodes; None where there are none. The API server rejects a
    second controller, and the garbage collector would delete an object that was taken over with its LynqNode."""
    others = [owner for owner in meta.owner_references if not owner.api_version.startswith(LYNQ_GROUP)]
    if len(others) == len(meta.owner_references):
        return None
    kept = [reference_manifest(owner) for owner in others]
    # On the version that was read: a merge patch replaces the list as a whole.
    return {"metadata": {"resourceVersion": meta.resource_version, "ownerReferences": kept}}


def describe_owner(meta: ObjectMeta) -> str:
    """The owner of a foreign object, as far as its labels and owner references name one."""
    name, namespace = meta.labels.get(TENANT), meta.labels.get(TENANT_NAMESPACE)
    if name is not None:
        return f"Tenant {namespace or meta.namespace}/{name}"
    controller = controller_of(meta)
    return f"{controller.kind} {controller.name}" if controller is not None else "another owner"


def _owner_for(meta: ObjectMeta, home: str) -> str:
    """The owner as users of the namespace `home` may know it: not the names of Tenants of other namespaces."""
    namespace = meta.labels.get(TENANT_NAMESPACE)
    is_elsewhere = TENANT in meta.labels and namespace is not None and namespace != home
    return "a Tenant of another namespace" if is_elsewhere else describe_owner(meta)


def object_conflict_message(ref: Ref, meta: ObjectMeta, home: str) -> str:
    owner = _owner_for(meta, home)
    return f"Resource {ref.key.name} exists with different owner: {ref} belongs to {owner}. {OBJECT_CURE}"


def contested_object_message(ref: Ref, meta: ObjectMeta, home: str) -> str:
    owner = _owner_for(meta, home)
    return (
        f"Resource {ref.key.name} exists with different owner: {owner} takes {ref} again and again. "
        "Check the namespace, review nameTemplate, or leave conflictPolicy: Force to one of them"
    )


def duplicate_conflict_message(ref: Ref, earlier: str) -> str:
    return f"Resource {ref.key.name} exists with different owner: {ref} is resource {earlier!r} already. {OBJECT_CURE}"


def field_conflict_message(ref: Ref, error: FieldConflict) -> str:
    held = [f"{field} belongs to {manager}" for manager, field in error.managers]
    return f"{ref}: {_join_some(held)}. {FIELD_CURE}"


def fields_taken_message(ref: Ref, held: Iterable[tuple[str, str]]) -> str:
    taken = [f"{field} was taken from {manager}" for manager, field in held]
    return f"{ref}: {_join_some(taken)}, by conflictPolicy: Force"


def contested_fields_message(ref: Ref, taken: "Iterable[TakenField]") -> str:
    held = [f"{found.manager} takes {found.field} again and again" for found in taken]
    return f"{ref}: {_join_some(held)}. {CONTEST_CURE}"


def _join_some(sentences: list[str], most: int = 3) -> str:
    more = f" and {len(sentences) - most} more" if len(sentences) > most else ""
    return ", ".join(sentences[:most]) + more


def foreign_managers(error: FieldConflict) -> tuple[tuple[str, str], ...]:
    """The managers of a conflict without those of this operator: earlier versions of it, and the seeding manager."""
    return without_our_managers(error.managers)


def without_our_managers(owners: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((manager, field) for manager, field in owners if manager not in OUR_MANAGERS)


class TakenField(NamedTuple):
    """A field that the operator applies and that another manager has set."""

    ref: Ref
    manager: str
    field: str


def field_managers(live: Manifest, paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The manager of each path: the latest that owns it, else the latest that wrote to the object at all."""
    entries = sorted(
        (entry for entry in live["metadata"].get("managedFields") or () if _is_foreign_entry(entry)),
        key=lambda entry: str(entry.get("time", "")),
        reverse=True,
    )
    return tuple((_field_manager(entries, path), path) for path in paths)


def _is_foreign_entry(entry: Mapping[str, Any]) -> bool:
    return entry.get("manager") not in OUR_MANAGERS and entry.get("subresource") != "status"


def _field_manager(entries: list[Mapping[str, Any]], path: str) -> str:
    owners = [entry for entry in entries if _owns_path(entry.get("fieldsV1") or {}, path)]
    found = next(iter(owners or entries), None)
    return UNKNOWN_MANAGER if found is None else str(found.get("manager") or UNKNOWN_MANAGER)


def _owns_path(fields: Mapping[str, Any], path: str) -> bool:
    """Whether a FieldsV1 entry owns a path. Names may contain dots; inside a list, owning the list is enough."""
    if not path.startswith("."):
        return True
    rest = path[1:]
    return any(
        not (children.keys() - {"."}) or _owns_path(children, rest[len(name) - 2 :])
        for name, children in fields.items()
        if name.startswith("f:") and _is_step(rest, name[2:])
    )


def _is_step(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}.", f"{name}["))
