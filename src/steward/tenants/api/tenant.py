"""Tenant: one row and one template, evaluated. Made by Steward, never by hand."""

from typing import Annotated, ClassVar

from msgspec import Meta

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.tenants.api.group import GROUP, VERSION, Metadata
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import (
    ATOMIC,
    UNSET,
    AccountName,
    Count,
    Generation,
    ObjectName,
    Part,
    Timestamp,
    Uid,
    Unset,
)
from steward.tenants.api.status import Conditions

Resources = Annotated[list[TResource], Meta(extra_json_schema=ATOMIC)] | Unset


class SecretValues(Part):
    """Where the payload of the Tenant's Secrets is: they are not in the spec."""

    secret_name: ObjectName
    """A Secret of the same namespace, owned by the Tenant."""
    digest: str
    """The fingerprint of the payload, so that a change of it is a change of the spec."""


class RenderFailure(Part, kw_only=True):
    """Why the row could not be rendered. Nothing is applied; what the Tenant already has stays."""

    resource: str
    """The id of the resource."""
    field: str
    """The field that holds the template."""
    line: int
    """The line in it, from 1."""
    column: int | Unset = UNSET
    """The byte in that line, from 0."""
    message: str
    """The error in the words of Go's template engine, and the cure."""


class TenantSpec(Part):
    """A row and a template, evaluated: exactly what will be applied."""

    uid: Uid
    """The row's identifier, whatever the name of this object had to become."""
    template_ref: ObjectName
    """The TenantTemplate."""
    template_generation: Generation | Unset = UNSET
    """The generation of the template that was rendered. While it is absent nothing is applied: the texts may still be
    templates."""
    service_account_name: AccountName | Unset = UNSET
    """With whose rights the objects are applied, as the template says."""
    values: SecretValues | Unset = UNSET
    """The payload of the Secrets."""
    render_failure: RenderFailure | Unset = UNSET
    """Set while the row cannot be rendered."""
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
    """Secrets, without their payload."""
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
    rules: ClassVar = tuple(
        Cel(
            f"self.{name} == oldSelf.{name}",
            f"{name} cannot change: a Tenant is of one row and one template; change those instead",
            f".{name}",
        )
        for name in ("uid", "templateRef")
    )


class AppliedObject(Part, kw_only=True):
    """An object that was or is about to be applied, written before it is: a crash leaks nothing."""

    api_version: str
    """Its apiVersion."""
    kind: str
    """Its kind."""
    namespace: str = ""
    """Its namespace; none for cluster-scoped kinds."""
    name: str
    """Its name."""
    id: str
    """The resource's id in the template."""
    uid: str = ""
    """The object's own uid, once it is known."""
    changed_at: Timestamp | Unset = UNSET
    """When it was last changed by us. timeoutSeconds counts from here."""
    generation: Generation | Unset = UNSET
    """The generation of the Tenant that it was last brought up to. What it applied is ours to take back."""


class TenantStatus(Part):
    """What is."""

    observed_generation: Generation | Unset = UNSET
    """The generation of the spec that this status speaks of."""
    desired_resources: Count | Unset = UNSET
    """How many objects there should be."""
    ready_resources: Count | Unset = UNSET
    """How many are ready."""
    failed_resources: Count | Unset = UNSET
    """How many have failed."""
    conflicted_resources: Count | Unset = UNSET
    """How many belong to somebody else."""
    skipped_resources: Count | Unset = UNSET
    """How many are left out because something that they depend on has failed."""
    skipped_resource_ids: list[str] | Unset = UNSET
    """Which."""
    applied_resources: list[str] | Unset = UNSET
    """Every object as `Kind/namespace/name@id`."""
    applied: Annotated[list[AppliedObject], Meta(extra_json_schema=ATOMIC)] | Unset = UNSET
    """Every object with all that it takes to find it again."""
    conditions: Conditions | Unset = UNSET
    """Ready, Progressing, Conflicted, Degraded, Reconciling, Stalled."""


class Tenant(Part):
    """One tenant: a row and a template. Read-only: change the row or the template instead."""

    metadata: Metadata
    spec: TenantSpec
    status: TenantStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "Tenant",
    "tenants",
    Tenant,
    columns=(
        Column("UID", ".spec.uid"),
        Column("Template", ".spec.templateRef"),
        Column("Ready", ".status.readyResources", "integer"),
        Column("Desired", ".status.desiredResources", "integer"),
        Column("Skipped", ".status.skippedResources", "integer"),
        Column("Conflicted", ".status.conditions[?(@.type=='Conflicted')].status"),
        Column("Conditions", ".status.conditions[?(@.type=='Ready')].reason"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
