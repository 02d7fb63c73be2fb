"""TResource: one object of a template, and its policies."""

from typing import Annotated

from msgspec import Meta

from steward.tenants.api.scalars import (
    ATOMIC,
    UNSET,
    AnyObject,
    ConflictPolicy,
    CreationPolicy,
    DeletionPolicy,
    GeneratedCharacters,
    Part,
    PatchStrategy,
    ResourceId,
    Unset,
)

DEFAULT_TIMEOUT_SECONDS = 300
DEFAULT_LENGTH = 32
BY_KEY = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"]}


class GeneratedValue(Part):
    """A random value of a Secret, made once for each tenant."""

    key: Annotated[str, Meta(min_length=1, max_length=253, pattern=r"^[-._a-zA-Z0-9]+$")]
    """The key in the data of the Secret."""
    # Without defaults in the schema: the API server would add them to the lists of a Tenant, which are atomic.
    length: Annotated[int, Meta(ge=8, le=512, extra_json_schema={"format": "int32"})] = DEFAULT_LENGTH
    """The number of characters. 32 by default."""
    characters: GeneratedCharacters = "alphanumeric"
    """The characters it is made of: letters and digits by default."""


class TResource(Part):
    """One object: a template for all tenants, or rendered for one tenant."""

    id: ResourceId
    """Unique among all resources of the template. Other resources depend on it by this name."""
    spec: AnyObject
    """The complete object, with apiVersion and kind. Every text in it may be a template."""
    depend_ids: Annotated[list[ResourceId], Meta(max_length=100, extra_json_schema=ATOMIC)] | Unset = UNSET
    """Resources that must be ready before this one is applied."""
    creation_policy: Annotated[CreationPolicy, Meta(extra_json_schema={"default": "WhenNeeded"})] = (
        "WhenNeeded"
    )
    """WhenNeeded: kept in sync with the template. Once: created once and never changed again; what functions of random
    values and of the clock give is kept."""
    deletion_policy: Annotated[DeletionPolicy, Meta(extra_json_schema={"default": "Delete"})] = "Delete"
    """Delete: deleted with its Tenant. Retain: kept, and labelled as orphaned."""
    conflict_policy: Annotated[ConflictPolicy, Meta(extra_json_schema={"default": "Stuck"})] = "Stuck"
    """For an object that already belongs to another owner. Stuck: report a conflict. Force: take it over."""
    name_template: str | Unset = UNSET
    """A template for the name of the object. The name inside spec by default."""
    target_namespace: str | Unset = UNSET
    """A template for the namespace of the object. The namespace of the Tenant by default."""
    labels_template: dict[str, str] | Unset = UNSET
    """More labels; their values are templates. They override those inside spec."""
    annotations_template: dict[str, str] | Unset = UNSET
    """More annotations; their values are templates. They override those inside spec."""
    when: str | Unset = UNSET
    """A template. The object exists where it renders `true`, for example for tenants of one plan, and does not where it
    renders `false` or nothing. Any other text is an error, and changes nothing of the Tenant."""
    for_each: str | Unset = UNSET
    """A template that renders a JSON list, such as a column with one. There is an object for each entry; its texts have
    `.item`, the entry, and `.itemKey`, its key: the entry itself, or the `name`, `key` or `id` of a map. Up to 50
    entries; nothing means none, any other text is an error and changes nothing of the Tenant."""
    ready_when: str | Unset = UNSET
    """A template over the live object that renders `true` once it is ready, instead of the rule for its kind:
    `{{ eq .status.phase "Running" }}`."""
    generate: Annotated[list[GeneratedValue], Meta(max_length=50, extra_json_schema=BY_KEY)] | Unset = UNSET
    """For a Secret: keys with random values, such as passwords. Each is made once for each tenant and then kept,
    whatever the row and the template become; a key that the Secret already has is left as it is."""
    wait_for_ready: Annotated[bool, Meta(extra_json_schema={"default": True})] = True
    """Whether the Tenant and dependent resources wait until it is ready."""
    timeout_seconds: Annotated[
        int, Meta(ge=1, le=3600, extra_json_schema={"default": DEFAULT_TIMEOUT_SECONDS, "format": "int32"})
    ] = DEFAULT_TIMEOUT_SECONDS
    """How long after a change the object may take to become ready. After that it has failed until it is ready."""
    patch_strategy: Annotated[PatchStrategy, Meta(extra_json_schema={"default": "apply"})] = "apply"
    """apply: server-side apply, keeps fields of others. merge: a merge patch, keeps fields of others too. replace: the
    object has exactly these fields."""
    ignore_fields: (
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=1024)]],
            Meta(max_length=100, extra_json_schema=ATOMIC),
        ]
        | Unset
    ) = UNSET
    """JSONPaths of fields that are set once and then left to others, such as `$.spec.replicas` for an autoscaler."""
    skip_on_dependency_failure: Annotated[bool, Meta(extra_json_schema={"default": True})] = True
    """Whether this resource is skipped while a dependency has failed."""

    @property
    def has_readiness_rule(self) -> bool:
        """Whether `readyWhen` decides when it is ready, and the Tenant waits for it."""
        return self.ready_when is not UNSET and bool(self.ready_when) and self.wait_for_ready
