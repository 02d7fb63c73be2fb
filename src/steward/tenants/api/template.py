"""TenantTemplate: the objects of every tenant of a registry."""

from typing import Annotated, ClassVar

from msgspec import Meta

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.tenants.api.group import GROUP, VERSION, Metadata
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import (
    BY_ID,
    UNSET,
    AccountName,
    Count,
    Generation,
    ObjectName,
    Part,
    RolloutPhase,
    Timestamp,
    Unset,
)
from steward.tenants.api.status import Conditions, HeldDeletion

DEFAULT_PROGRESS_DEADLINE = 600

Resources = Annotated[list[TResource], Meta(extra_json_schema=BY_ID)] | Unset


class Rollout(Part):
    """How a change of the template reaches the Tenants."""

    max_skew: Annotated[int, Meta(ge=0, extra_json_schema={"default": 0, "format": "int32"})] = 0
    """How many Tenants may be updating to the new version at once, including new Tenants. 0: all."""
    progress_deadline_seconds: Annotated[
        int,
        Meta(ge=60, le=3600, extra_json_schema={"default": DEFAULT_PROGRESS_DEADLINE, "format": "int32"}),
    ] = DEFAULT_PROGRESS_DEADLINE
    """How long a rollout may take without a Tenant becoming ready. Then it stops: the others keep the old version until
    the template is edited again. A version that has reached every Tenant cannot fail any more."""


class TenantTemplateSpec(Part):
    """The objects of every tenant of a registry. Texts are Go templates with sprig; `.uid`, `.host` and the columns of
    the registry are the variables."""

    registry_id: ObjectName
    """The TenantRegistry of the same namespace whose rows become Tenants. Cannot change."""
    service_account_name: AccountName | Unset = UNSET
    """A ServiceAccount of the namespace of the template whose permissions apply the objects. By default the operator's,
    within the template's own namespaces."""
    rollout: Rollout | Unset = UNSET
    """How a change of the template reaches the Tenants."""
    paused: bool | Unset = UNSET
    """Whether no Tenant of the template is written or deleted. Changes of the template wait."""
    service_accounts: Resources = UNSET
    """ServiceAccounts."""
    deployments: Resources = UNSET
    """Deployments."""
    stateful_sets: Resources = UNSET
    """StatefulSets."""
    daemon_sets: Resources = UNSET
    """DaemonSets."""
    services: Resources = UNSET
    """Services."""
    ingresses: Resources = UNSET
    """Ingresses."""
    config_maps: Resources = UNSET
    """ConfigMaps."""
    secrets: Resources = UNSET
    """Secrets."""
    persistent_volume_claims: Resources = UNSET
    """PersistentVolumeClaims."""
    jobs: Resources = UNSET
    """Jobs."""
    cron_jobs: Resources = UNSET
    """CronJobs."""
    pod_disruption_budgets: Resources = UNSET
    """PodDisruptionBudgets."""
    network_policies: Resources = UNSET
    """NetworkPolicies."""
    horizontal_pod_autoscalers: Resources = UNSET
    """HorizontalPodAutoscalers."""
    namespaces: Resources = UNSET
    """Namespaces."""
    manifests: Resources = UNSET
    """Objects of any kind, custom ones included."""
    rules: ClassVar = (
        Cel(
            "self.registryId == oldSelf.registryId",
            "registryId cannot change: the Tenants of the old registry would all be deleted; make another template",
            ".registryId",
        ),
    )


class RolloutStatus(Part):
    """The rollout of the latest change of the template."""

    phase: RolloutPhase
    """Idle: nothing to do. InProgress. Failed: stopped by the deadline. Complete."""
    target_generation: Generation | Unset = UNSET
    """The generation of the template that is being rolled out."""
    total_nodes: Count | Unset = UNSET
    """How many Tenants the template has."""
    updated_nodes: Count | Unset = UNSET
    """How many have the new version."""
    updating_nodes: Count | Unset = UNSET
    """How many of those are not rolled out yet."""
    ready_updated_nodes: Count | Unset = UNSET
    """How many of those have been rolled out, even if they are not ready now."""
    start_time: Timestamp | Unset = UNSET
    """When it started."""
    last_progress_time: Timestamp | Unset = UNSET
    """When a Tenant last became ready with the new version. The deadline starts here."""
    completion_time: Timestamp | Unset = UNSET
    """When it ended: when the version had last reached every Tenant, or when it failed."""
    message: str | Unset = UNSET
    """A summary."""


class TenantTemplateStatus(Part):
    """The observed state of the template."""

    observed_generation: Generation | Unset = UNSET
    """The generation of the spec that the status is about."""
    total_tenants: Count | Unset = UNSET
    """How many Tenants there are of this template."""
    ready_tenants: Count | Unset = UNSET
    """How many of them are ready."""
    rollout: RolloutStatus | Unset = UNSET
    """The rollout of the latest change."""
    held_deletion: HeldDeletion | Unset = UNSET
    """Deletion of the template with its Tenants, while it waits for approval."""
    conditions: Conditions | Unset = UNSET
    """Valid, Applied, DeletionHeld, Reconciling, Stalled, Unrestricted."""


class TenantTemplate(Part):
    """The objects of every tenant of a registry."""

    metadata: Metadata
    spec: TenantTemplateSpec
    status: TenantTemplateStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "TenantTemplate",
    "tenanttemplates",
    TenantTemplate,
    columns=(
        Column("Registry", ".spec.registryId"),
        Column("Total", ".status.totalTenants", "integer"),
        Column("Ready", ".status.readyTenants", "integer"),
        Column("Rollout", ".status.rollout.phase"),
        Column("Updating", ".status.rollout.updatingNodes", "integer"),
        Column("Applied", ".status.conditions[?(@.type=='Applied')].status"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
