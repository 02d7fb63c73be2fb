"""TenantRegistry: the table that contains the tenants, and the limits for deletions."""

from typing import Annotated

from msgspec import Meta

from steward.kube.crd.schema import Column, CustomKind
from steward.tenants.api.group import GROUP, VERSION, Metadata
from steward.tenants.api.scalars import (
    UNSET,
    Count,
    Generation,
    Identifier,
    Interval,
    Part,
    TemplateProfile,
    Timestamp,
    Unset,
)
from steward.tenants.api.source import Source
from steward.tenants.api.status import Conditions, HeldDeletion

DEFAULT_MAX_PERCENT = 30
NO_GRACE = "0s"
MAX_SHOWN = 20
"""The maximum number of entries of a list in a status."""


class ValueMappings(Part):
    """The columns that every table of tenants has."""

    uid: Identifier
    """The column with the tenant's identifier. It becomes `.uid` and part of the Tenant's name."""
    host_or_url: Identifier
    """The column with the tenant's host or URL. It becomes `.hostOrUrl`, and its host `.host`."""
    activate: Identifier
    """The column that says whether the tenant is active: 1, true or yes (also in capitals), BIT(1) or a boolean."""


class DeletionGuard(Part):
    """Limits for deletions without approval. More deletions are held until the annotation
    `kubernetes-tenants.org/approve-deletion: "<count>-<digest>"` names exactly the set of Tenants."""

    allow_empty: bool = False
    """Accept a table without any row: all Tenants may be deleted, within the limits below."""
    max_percent: Annotated[int, Meta(ge=0, le=100, extra_json_schema={"default": DEFAULT_MAX_PERCENT})] = (
        DEFAULT_MAX_PERCENT
    )
    """The percentage of Tenants that may be deleted at once. The Tenants of a single row always may."""
    max_count: Annotated[int, Meta(ge=0, extra_json_schema={"format": "int32"})] | Unset = UNSET
    """The number of Tenants that may be deleted at once, whatever their share. No limit by default."""
    grace_period: Annotated[Interval, Meta(extra_json_schema={"default": NO_GRACE})] = NO_GRACE
    """How long a Tenant without an active row is only marked. A row that returns in this time cancels the deletion."""


class TenantRegistrySpec(Part):
    """A table, and the meaning of its columns."""

    source: Source
    """The source of the rows, and how often it is read."""
    value_mappings: ValueMappings
    """The three columns that every table of tenants has."""
    extra_value_mappings: (
        Annotated[
            dict[str, Identifier],
            Meta(max_length=200),
        ]
        | Unset
    ) = UNSET
    """More variables for templates, each with its column: `planId: plan_id` makes `.planId`."""
    deletion_guard: DeletionGuard | Unset = UNSET
    """Limits for deletions without approval."""
    paused: bool | Unset = UNSET
    """Whether the table is not read and no Tenant is written or deleted."""
    template_profile: Annotated[TemplateProfile, Meta(extra_json_schema={"default": "hermetic"})] = "hermetic"
    """The functions that templates may use. full adds functions of the clock, of random values and for new keys, whose
    results change with each rendering: the objects are then written at every sync, unless creationPolicy is Once."""


class RejectedRow(Part):
    """A row that cannot become a Tenant. Its existing Tenant is not changed."""

    uid: str
    """Its identifier, shortened and made printable."""
    reason: str
    """The problem of the row, and the cure."""


class TenantRegistryStatus(Part):
    """The observed state of the registry."""

    observed_generation: Generation | Unset = UNSET
    """The generation of the spec that the status is about."""
    referencing_templates: Count | Unset = UNSET
    """How many TenantTemplates use this registry."""
    desired: Count | Unset = UNSET
    """How many Tenants there should be: templates times active rows."""
    ready: Count | Unset = UNSET
    """How many Tenants are ready."""
    failed: Count | Unset = UNSET
    """How many Tenants have failed."""
    active_rows: Count | Unset = UNSET
    """How many rows were active at the last clean read."""
    inactive_rows: Count | Unset = UNSET
    """How many rows were present and inactive at the last clean read."""
    rejected_rows: Count | Unset = UNSET
    """How many rows cannot become Tenants."""
    rejected: Annotated[list[RejectedRow], Meta(max_length=MAX_SHOWN)] | Unset = UNSET
    """The first of them, with their problems."""
    held_deletion: HeldDeletion | Unset = UNSET
    """A deletion that waits for approval."""
    last_sync_time: Timestamp | Unset = UNSET
    """When the table was last read successfully."""
    last_sync_duration: str | Unset = UNSET
    """How long that read took, for example `0.42s`."""
    last_sync_request: str | Unset = UNSET
    """The annotation `kubernetes-tenants.org/sync-request` at the last read, successful or not."""
    conditions: Conditions | Unset = UNSET
    """Ready, SourceReachable, DeletionHeld, Degraded, Reconciling, Stalled."""


class TenantRegistry(Part):
    """A table whose active rows become Tenants, one for each TenantTemplate that names this registry."""

    metadata: Metadata
    spec: TenantRegistrySpec
    status: TenantRegistryStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "TenantRegistry",
    "tenantregistries",
    TenantRegistry,
    columns=(
        Column("Templates", ".status.referencingTemplates", "integer"),
        Column("Desired", ".status.desired", "integer"),
        Column("Ready", ".status.ready", "integer"),
        Column("Failed", ".status.failed", "integer"),
        Column("Conditions", ".status.conditions[?(@.type=='Ready')].reason"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
