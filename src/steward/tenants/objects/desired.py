"""Builds the desired objects of a Tenant from its spec. Pure.

Every object carries both tracking labels, in any namespace, so that it can be found by them. It has an owner reference
too where Kubernetes allows one and the object is deleted with its Tenant. This is decided when the object is created:
the garbage collector may already have acted on a reference that is removed later.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from steward.kube.objects.kinds import Kind, Manifest, Ref, kind_of, ref_of
from steward.tenants.api.group import API_VERSION
from steward.tenants.api.lists import list_resources
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import AppliedObject, TenantSpec
from steward.tenants.errors import RenderError
from steward.tenants.labels import BUCKET, RECREATE, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.orphans import AppliedRef, TenantOwner
from steward.tenants.rendering.object_shape import check_names, check_object
from steward.tenants.rendering.render import policy_annotations
from steward.tenants.rendering.secret_payload import SecretPayload, with_payload


class DesiredObject(NamedTuple):
    """A desired object, and the resource with its policies."""

    resource: TResource
    manifest: Manifest
    ref: Ref
    """Of the manifest; computed once because a reconcile needs it many times."""
    is_complete: bool = True
    """False while the payload of a Secret does not exist yet: then nothing is applied."""
    live_version: str = ""
    """The version of the live object that values of the manifest were taken from; empty if none were."""

    @property
    def id(self) -> str:
        return self.resource.id

    @property
    def is_created_once(self) -> bool:
        return self.resource.creation_policy == "Once"

    @property
    def has_ignored_fields(self) -> bool:
        return self.resource.ignore_fields is not UNSET and bool(self.resource.ignore_fields)

    @property
    def may_be_recreated(self) -> bool:
        annotations: Mapping[str, str] = self.manifest["metadata"]["annotations"]
        return annotations.get(RECREATE) == "true"

    @property
    def applied_ref(self) -> AppliedRef:
        kind, key = self.ref
        return AppliedRef(kind.api_version, kind.kind, key.namespace, key.name, self.id)

    def applied_object(self) -> AppliedObject:
        kind, key = self.ref
        return AppliedObject(
            api_version=kind.api_version, kind=kind.kind, namespace=key.namespace, name=key.name, id=self.id
        )


def resources_of(spec: TenantSpec) -> list[TResource]:
    """All resources, in the order of the sixteen lists."""
    return [each.resource for each in list_resources(spec)]


def shape_problem(resources: Iterable[TResource]) -> str:
    """Why the objects cannot be read: a Tenant that a user wrote may hold anything. Empty if they can."""
    for resource in resources:
        try:
            check_object(resource.spec)
            check_names(resource.spec)
        except RenderError as error:
            return f"resource {resource.id!r}, {error.field}: {error.text}"
    return ""


def kinds_of(resources: Iterable[TResource]) -> frozenset[Kind]:
    return frozenset(kind_of(resource.spec) for resource in resources)


def kinds_with_readiness_rule(resources: Iterable[TResource]) -> frozenset[Kind]:
    """Kinds for which a resource has its own readiness rule."""
    return frozenset(kind_of(resource.spec) for resource in resources if resource.has_readiness_rule)


class ObjectScope(NamedTuple):
    """Everything besides the resources that the desired objects depend on."""

    owner: TenantOwner
    cluster_scoped: Collection[Kind]
    """Kinds without a namespace, from discovery."""
    payload: SecretPayload | None
    """None while it cannot be read."""


def desired_objects(resources: Iterable[TResource], scope: ObjectScope) -> tuple[DesiredObject, ...]:
    return tuple(_desired_object(resource, scope) for resource in resources)


def _desired_object(resource: TResource, scope: ObjectScope) -> DesiredObject:
    body = _assemble_manifest(resource, scope)
    ref = ref_of(body)
    try:
        return DesiredObject(resource, with_payload(body, resource.id, scope.payload or SecretPayload()), ref)
    except KeyError:
        return DesiredObject(resource, body, ref, is_complete=False)


def _assemble_manifest(resource: TResource, scope: ObjectScope) -> Manifest:
    metadata: dict[str, Any] = dict(resource.spec.get("metadata") or {})
    if kind_of(resource.spec) in scope.cluster_scoped:
        metadata.pop("namespace", None)
    else:
        metadata.setdefault("namespace", scope.owner.namespace)
    metadata["labels"] = {**(metadata.get("labels") or {}), **tracking_labels(scope.owner)}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **policy_annotations(resource)}
    if may_have_owner_reference(resource, metadata, scope.owner):
        metadata["ownerReferences"] = [*(metadata.get("ownerReferences") or ()), owner_reference(scope.owner)]
    return {**resource.spec, "metadata": metadata}


def tracking_labels(owner: TenantOwner) -> dict[str, str]:
    part = {BUCKET: owner.bucket} if owner.bucket else {}
    return {TENANT: owner.name, TENANT_NAMESPACE: owner.namespace, **part}


def may_have_owner_reference(resource: TResource, metadata: Mapping[str, Any], owner: TenantOwner) -> bool:
    """An owner must be in the same namespace, and a retained object must have none."""
    return metadata.get("namespace") == owner.namespace and resource.deletion_policy == "Delete"


def owner_reference(owner: TenantOwner) -> dict[str, Any]:
    """Without blockOwnerDeletion: where the API server checks who may set it, the account of each template would need a
    permission on Tenants, and the Tenant's finalizer keeps the Tenant as long as necessary anyway."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Tenant",
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
    }


def duplicate_objects(desired: Iterable[DesiredObject]) -> dict[str, str]:
    """By id, the id of an earlier resource that names the same object: only the first one applies it."""
    first: dict[Ref, str] = {}
    found = {}
    for item in desired:
        earlier = first.setdefault(item.ref, item.id)
        if earlier != item.id:
            found[item.id] = earlier
    return found
