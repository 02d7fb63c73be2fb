"""A Tenant's specification in, the objects that it wants out, each with all that is said about it. Pure.

Every object carries both tracking labels, wherever it lives, so that it is found by them. The owner reference is beside
them where Kubernetes allows one and the object is to go with its Tenant; that is decided here, when the object is made:
a reference that is taken away later may already have been read by the garbage collector.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from steward.kube.objects.kinds import Kind, Manifest, Ref, kind_of, ref_of
from steward.tenants.api.group import API_VERSION
from steward.tenants.api.lists import listed
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import AppliedObject, TenantSpec
from steward.tenants.labels import BUCKET, CREATED_ONCE, DELETION_POLICY, RECREATE, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.orphans import Applied, Owner
from steward.tenants.rendering.secret_payload import Payload, joined


class Wanted(NamedTuple):
    """One object as it is to be, and the resource that says how to deal with it."""

    resource: TResource
    manifest: Manifest
    ref: Ref
    """Which object that is; asked for many times in one look."""
    is_whole: bool = True
    """False while the payload of a Secret is not there yet: then there is nothing to apply."""

    @property
    def id(self) -> str:
        return self.resource.id

    @property
    def is_once(self) -> bool:
        return self.resource.creation_policy == "Once"

    @property
    def has_ignored_fields(self) -> bool:
        return self.resource.ignore_fields is not UNSET and bool(self.resource.ignore_fields)

    @property
    def may_be_recreated(self) -> bool:
        annotations: Mapping[str, str] = self.manifest["metadata"]["annotations"]
        return annotations.get(RECREATE) == "true"

    @property
    def applied(self) -> Applied:
        kind, key = self.ref
        return Applied(kind.api_version, kind.kind, key.namespace, key.name, self.id)

    def record(self) -> AppliedObject:
        kind, key = self.ref
        return AppliedObject(
            api_version=kind.api_version, kind=kind.kind, namespace=key.namespace, name=key.name, id=self.id
        )


def resources_of(spec: TenantSpec) -> list[TResource]:
    """In the order in which the sixteen lists are read."""
    return [each.resource for each in listed(spec)]


def kinds_of(resources: Iterable[TResource]) -> frozenset[Kind]:
    return frozenset(kind_of(resource.spec) for resource in resources)


def kinds_with_a_rule(resources: Iterable[TResource]) -> frozenset[Kind]:
    """Those of which a resource says itself when they are ready."""
    return frozenset(kind_of(resource.spec) for resource in resources if resource.has_own_rule)


class Scope(NamedTuple):
    """What it takes to turn resources into objects, beyond themselves."""

    owner: Owner
    cluster_scoped: Collection[Kind]
    """Kinds without a namespace: only the server knows."""
    payload: Payload | None
    """None while it cannot be read."""


def wanted_objects(resources: Iterable[TResource], scope: Scope) -> tuple[Wanted, ...]:
    return tuple(_wanted(resource, scope) for resource in resources)


def _wanted(resource: TResource, scope: Scope) -> Wanted:
    body = _assembled(resource, scope)
    ref = ref_of(body)
    try:
        return Wanted(resource, joined(body, resource.id, scope.payload or Payload()), ref)
    except KeyError:
        return Wanted(resource, body, ref, is_whole=False)


def _assembled(resource: TResource, scope: Scope) -> Manifest:
    given: dict[str, Any] = dict(resource.spec.get("metadata") or {})
    if kind_of(resource.spec) in scope.cluster_scoped:
        given.pop("namespace", None)
    else:
        given.setdefault("namespace", scope.owner.namespace)
    given["labels"] = {**(given.get("labels") or {}), **tracking(scope.owner)}
    given["annotations"] = {**(given.get("annotations") or {}), **_policies(resource)}
    if may_own(resource, given, scope.owner):
        given["ownerReferences"] = [*(given.get("ownerReferences") or ()), owner_reference(scope.owner)]
    return {**resource.spec, "metadata": given}


def tracking(owner: Owner) -> dict[str, str]:
    part = {BUCKET: owner.bucket} if owner.bucket else {}
    return {TENANT: owner.name, TENANT_NAMESPACE: owner.namespace, **part}


def _policies(resource: TResource) -> dict[str, str]:
    once = {CREATED_ONCE: "true"} if resource.creation_policy == "Once" else {}
    return {DELETION_POLICY: resource.deletion_policy, **once}


def may_own(resource: TResource, metadata: Mapping[str, Any], owner: Owner) -> bool:
    """An owner must be in the same namespace, and what is to be retained must have none."""
    return metadata.get("namespace") == owner.namespace and resource.deletion_policy == "Delete"


def owner_reference(owner: Owner) -> dict[str, Any]:
    """It does not block the owner's deletion: where the server checks who may do that, the account of each template
    would need a right on Tenants, and our own finalizer holds the Tenant as long as it must."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Tenant",
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
    }


def doubled(wanted: Iterable[Wanted]) -> dict[str, str]:
    """By id, the id of an earlier resource that names the very same object: only the first can have it."""
    first: dict[Ref, str] = {}
    found = {}
    for item in wanted:
        earlier = first.setdefault(item.ref, item.id)
        if earlier != item.id:
            found[item.id] = earlier
    return found
