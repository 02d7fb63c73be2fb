"""TenantRegistry: which table holds the tenants, and how careful to be with it."""

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
from steward.tenants.api.status import Conditions

DEFAULT_MAX_PERCENT = 30
NO_GRACE = "0s"
SHOWN = 20
"""How many entries a list in a status has at most."""


class ValueMappings(Part):
    """Which columns hold what every tenant needs."""

    uid: Identifier
    """The column with the tenant's identifier. It becomes `.uid` and part of the Tenant's name."""
    host_or_url: Identifier
    """The column with the tenant's host or URL. It becomes `.hostOrUrl`, and its host `.host`."""
    activate: Identifier
    """The column that says whether the tenant is active: 1, true or yes (also in capitals), BIT(1) or a boolean."""


class DeletionGuard(Part):
    """What may be deleted without asking. More than this waits until
    `kubernetes-tenants.org/approve-deletion: "<count>-<digest>"` names exactly the set that would go."""

    allow_empty: bool = False
    """Believe a table without any row: all Tenants may go, within the limits below."""
    max_percent: Annotated[int, Meta(ge=0, le=100, extra_json_schema={"default": DEFAULT_MAX_PERCENT})] = (
        DEFAULT_MAX_PERCENT
    )
    """How many Tenants of a hundred may go at once. A single one always may."""
    max_count: Annotated[int, Meta(ge=0, extra_json_schema={"format": "int32"})] | Unset = UNSET
    """How many Tenants may go at once, whatever their share. No limit when left out."""
    grace_period: Annotated[Interval, Meta(extra_json_schema={"default": NO_GRACE})] = NO_GRACE
    """How long a Tenant whose row is gone is only marked. A row that returns in this time cancels the deletion."""


class TenantRegistrySpec(Part):
    """A table, and what its columns mean."""

    source: Source
    """Where the rows are, and how often to look."""
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
    """What may be deleted without asking."""
    template_profile: Annotated[TemplateProfile, Meta(extra_json_schema={"default": "hermetic"})] = "hermetic"
    """Which functions templates may use. full adds clock, random and key-making functions, whose results change with
    each rendering: the objects are then written at every sync."""


class RejectedRow(Part):
    """A row that cannot become a Tenant. Its existing Tenant stays as it is."""

    uid: str
    """Its identifier, shortened and made printable."""
    reason: str
    """What is wrong with it, and what to do."""


class HeldDeletion(Part):
    """What would be deleted, and is not."""

    count: Count
    """How many Tenants."""
    digest: str
    """The fingerprint of exactly this set."""
    reason: str
    """Why it is held."""
    sample: list[str]
    """Some of their names."""
    approve_with: str
    """The value of the annotation `kubernetes-tenants.org/approve-deletion` that lets this set go, and no other."""


class TenantRegistryStatus(Part):
    """What is."""

    observed_generation: Generation | Unset = UNSET
    """The generation of the spec that this status speaks of."""
    referencing_templates: Count | Unset = UNSET
    """How many TenantTemplates use this registry."""
    desired: Count | Unset = UNSET
    """How many Tenants there should be: templates times active rows."""
    ready: Count | Unset = UNSET
    """How many Tenants are ready."""
    failed: Count | Unset = UNSET
    """How many Tenants have failed."""
    active_rows: Count | Unset = UNSET
    """How many rows were active at the last good read."""
    rejected_rows: Count | Unset = UNSET
    """How many rows cannot become Tenants."""
    rejected: Annotated[list[RejectedRow], Meta(max_length=SHOWN)] | Unset = UNSET
    """The first of them, with what is wrong."""
    held_deletion: HeldDeletion | Unset = UNSET
    """A deletion that waits for approval."""
    last_sync_time: Timestamp | Unset = UNSET
    """When the table was last read well."""
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
