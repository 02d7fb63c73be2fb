"""TResource: one object of a template, and how to deal with it."""

from typing import Annotated

from msgspec import Meta

from steward.tenants.api.scalars import (
    ATOMIC,
    UNSET,
    AnyObject,
    ConflictPolicy,
    CreationPolicy,
    DeletionPolicy,
    Part,
    PatchStrategy,
    ResourceId,
    Unset,
)

DEFAULT_TIMEOUT_SECONDS = 300


class TResource(Part):
    """One object, as a template for any tenant or as it is for one tenant."""

    id: ResourceId
    """Unique among all resources of the template. Other resources depend on it by this name."""
    spec: AnyObject
    """The whole object, with apiVersion and kind. Every text in it may be a template."""
    depend_ids: Annotated[list[ResourceId], Meta(max_length=100, extra_json_schema=ATOMIC)] | Unset = UNSET
    """Resources that must be ready before this one is applied."""
    creation_policy: Annotated[CreationPolicy, Meta(extra_json_schema={"default": "WhenNeeded"})] = (
        "WhenNeeded"
    )
    """WhenNeeded: kept as the template says. Once: made once and never touched again."""
    deletion_policy: Annotated[DeletionPolicy, Meta(extra_json_schema={"default": "Delete"})] = "Delete"
    """Delete: goes with its Tenant. Retain: stays, marked as orphaned."""
    conflict_policy: Annotated[ConflictPolicy, Meta(extra_json_schema={"default": "Stuck"})] = "Stuck"
    """What to do about an object that belongs to somebody else. Stuck: leave it and say so. Force: take it over."""
    name_template: str | Unset = UNSET
    """A template for the object's name. The name inside spec holds when left out."""
    target_namespace: str | Unset = UNSET
    """A template for the object's namespace. The Tenant's own when left out."""
    labels_template: dict[str, str] | Unset = UNSET
    """More labels; their values are templates. They win over those inside spec."""
    annotations_template: dict[str, str] | Unset = UNSET
    """More annotations; their values are templates. They win over those inside spec."""
    when: str | Unset = UNSET
    """A template. The object exists only where it renders `true`: for tenants of one plan, say."""
    ready_when: str | Unset = UNSET
    """A template over the living object that renders `true` once it is ready, in place of the rule for its kind:
    `{{ eq .status.phase "Running" }}`."""
    wait_for_ready: Annotated[bool, Meta(extra_json_schema={"default": True})] = True
    """Whether the Tenant, and what depends on this resource, wait until it is ready."""
    timeout_seconds: Annotated[
        int, Meta(ge=1, le=3600, extra_json_schema={"default": DEFAULT_TIMEOUT_SECONDS, "format": "int32"})
    ] = DEFAULT_TIMEOUT_SECONDS
    """How long after a change the object may take to become ready. Later it has failed, until it is ready."""
    patch_strategy: Annotated[PatchStrategy, Meta(extra_json_schema={"default": "apply"})] = "apply"
    """apply: server-side apply, keeps what others add. merge: a merge patch, keeps what others add too. replace: the
    object is exactly this."""
    ignore_fields: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=1024)]],
            Meta(max_length=100, extra_json_schema=ATOMIC),
        ]
        | Unset
    ) = UNSET
    """JSONPaths of fields that are set once and then left to others: `$.spec.replicas` for an autoscaler, say."""
    skip_on_dependency_failure: Annotated[bool, Meta(extra_json_schema={"default": True})] = True
    """Whether this resource is left out while something that it depends on has failed."""

    @property
    def has_own_rule(self) -> bool:
        """Whether it says itself when it is ready, and somebody waits for that."""
        return self.ready_when is not UNSET and bool(self.ready_when) and self.wait_for_ready
