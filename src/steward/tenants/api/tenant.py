"""Tenant: the rendered objects of one row and one template. Created by the operator, not by users."""

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
    """The location of the payload of the Tenant's Secrets, which is not in the spec."""

    secret_name: ObjectName
    """A Secret of the same namespace, owned by the Tenant."""
    digest: str
    """The digest of the payload, so that a change of it changes the spec."""


class RenderFailure(Part, kw_only=True):
    """Why the row could not be rendered. Nothing is applied; existing objects are kept."""

    resource: str
    """The id of the resource."""
    field: str
    """The field that holds the template."""
    line: int
    """The line in it, from 1."""
    column: int | Unset = UNSET
    """The byte in that line, from 0."""
    message: str
    """The message of Go's template engine, and the cure."""


class TenantSpec(Part):
    """The rendered objects of a row and a template: exactly what is applied."""

    uid: Uid
    """The identifier of the row, which may differ from the name of this object."""
    template_ref: ObjectName
    """The TenantTemplate."""
    paused: bool | Unset = UNSET
    """Whether the objects of the Tenant are neither applied nor pruned. Set by users; the registry leaves it alone."""
    template_generation: Generation | Unset = UNSET
    """The generation of the template that was rendered. While it is absent, nothing is applied: texts may still be
    templates."""
    service_account_name: AccountName | Unset = UNSET
    """The ServiceAccount whose permissions apply the objects, from the template."""
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
    """An object that was or will be applied. Recorded before the apply, so that a crash leaves no unknown object."""

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
    """The uid of the object, once it is known. One that was deleted by others and put back may have another by now."""
    changed_at: Timestamp | Unset = UNSET
    """When the operator last changed it, apart from repairs of ready objects. timeoutSeconds starts here."""
    generation: Generation | Unset = UNSET
    """The generation of the Tenant that was last applied to it. Fields applied then are taken back from others."""


class TenantStatus(Part):
    """The observed state of the Tenant."""

    observed_generation: Generation | Unset = UNSET
    """The generation of the spec that the status is about."""
    desired_resources: Count | Unset = UNSET
    """How many objects there should be."""
    ready_resources: Count | Unset = UNSET
    """How many are ready."""
    failed_resources: Count | Unset = UNSET
    """How many have failed."""
    conflicted_resources: Count | Unset = UNSET
    """How many belong to another owner."""
    skipped_resources: Count | Unset = UNSET
    """How many are skipped because a dependency has failed."""
    skipped_resource_ids: list[str] | Unset = UNSET
    """The ids of the first 100 of them; skippedResources counts all."""
    applied_resources: list[str] | Unset = UNSET
    """The first 100 objects as `Kind/namespace/name@id`; `applied` has all."""
    applied_resources_omitted: Count | Unset = UNSET
    """How many more objects there are than appliedResources lists."""
    applied: Annotated[list[AppliedObject], Meta(extra_json_schema=ATOMIC)] | Unset = UNSET
    """Every object with all fields that identify it. There are as many as the template has resources, at most 500, and
    those that are still being pruned."""
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
