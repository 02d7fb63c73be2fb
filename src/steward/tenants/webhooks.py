"""The admission webhooks of tenants. They are optional: the controllers reject the same specs, only later.

A deletion is never denied: one that is over the limits of the deletion guard is held by its finalizer, and the webhook
warns of that at once, with the annotation that approves it.
"""

from collections.abc import Callable
from dataclasses import replace

import msgspec

from steward.admission.review import (
    AdmissionResponse,
    Allowed,
    Denied,
    Operation,
    Review,
    StatusCause,
    deny_invalid,
)
from steward.admission.server import Webhook, WebhookPurpose
from steward.kube.client.client import Client
from steward.kube.errors import KubeError, NotFound
from steward.kube.objects.kinds import Key, Manifest
from steward.kube.objects.options import ListQuery
from steward.tenants import labels
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.cache_rules import REGISTRY, TENANT_KIND
from steward.tenants.fleet.fleet import guarded_tenants
from steward.tenants.guard.cascade import CascadeDeletion, cascade_hold
from steward.tenants.names import label_value
from steward.tenants.objects.permissions import Permissions
from steward.tenants.status.conditions import describe_problem, describe_problems
from steward.tenants.validation.access import access_advice, refused_fields
from steward.tenants.validation.defaulting import default_registry, default_template
from steward.tenants.validation.problems import Problem
from steward.tenants.validation.registry import advise_registry, validate_registry
from steward.tenants.validation.template import MAX_PROBLEMS, advise_template, validate_template
from steward.tenants.views import Registry, Tenant

MAX_WARNINGS = 10
PATH = "operator-kubernetes-tenants-org-v1"
NO_FLAGS = Permissions()


class TenantWebhooks:
    def __init__(self, client: Client, permissions: Permissions = NO_FLAGS) -> None:
        self._client = client
        self._permissions = permissions

    def webhooks(self) -> list[Webhook]:
        registry, template = "TenantRegistry", "TenantTemplate"
        default = WebhookPurpose.DEFAULT
        return [
            Webhook(f"/mutate-{PATH}-tenantregistry", self.default_registry, default, registry),
            Webhook(f"/validate-{PATH}-tenantregistry", self.validate_registry, kind=registry),
            Webhook(f"/mutate-{PATH}-tenanttemplate", self.default_template, default, template),
            Webhook(f"/validate-{PATH}-tenanttemplate", self.validate_template, kind=template),
        ]

    async def default_registry(self, review: Review) -> AdmissionResponse:
        return _with_defaults(review, default_registry)

    async def default_template(self, review: Review) -> AdmissionResponse:
        return _with_defaults(review, default_template)

    async def validate_registry(self, review: Review) -> AdmissionResponse:
        if review.operation is Operation.DELETE:
            return await self._warn_of_hold(review, review.old_object.get("spec") or {}, review.name)
        try:
            spec = msgspec.convert(review.object.get("spec") or {}, TenantRegistrySpec)
        except msgspec.ValidationError as error:
            return deny_invalid(f"{review}: {error}")
        if problems := validate_registry(spec):
            return deny_problems(review, problems)
        return Allowed(warnings=_warnings(advise_registry(spec)))

    async def validate_template(self, review: Review) -> AdmissionResponse:
        if review.operation is Operation.DELETE:
            name = str((review.old_object.get("spec") or {}).get("registryId", ""))
            return await self._warn_of_hold(review, None, name)
        try:
            spec = msgspec.convert(review.object.get("spec") or {}, TenantTemplateSpec)
        except msgspec.ValidationError as error:
            return deny_invalid(f"{review}: {error}")
        if refused := self._newly_refused(review, spec):
            return deny_problems(review, refused)
        registry = await self._registry(review.namespace, spec.registry_id)
        response = (
            _validate_without_registry(review, spec)
            if registry is None
            else _validate_with_registry(review, spec, registry)
        )
        return _with_advice(response, access_advice(spec, review.namespace, self._permissions))

    def _newly_refused(self, review: Review, spec: TenantTemplateSpec) -> list[Problem]:
        """What no operator writes, unless the stored template has it already: that one must stay editable."""
        found = refused_fields(spec, self._permissions)
        if not found or review.operation is not Operation.UPDATE:
            return found
        try:
            stored = msgspec.convert(review.old_object.get("spec") or {}, TenantTemplateSpec)
        except msgspec.ValidationError:
            return found
        known = refused_fields(stored, self._permissions)
        return [problem for problem in found if problem not in known]

    async def _registry(self, namespace: str, name: str) -> Registry | None:
        """Read from the API server, not from a cache: a registry and its template are often applied together."""
        try:
            return await self._client.get(REGISTRY, Key(namespace, name), Registry)
        except NotFound:
            return None

    async def _warn_of_hold(
        self, review: Review, spec: dict[str, object] | None, name: str
    ) -> AdmissionResponse:
        """Warns if the deletion guard will hold the deletion. `spec` is the registry's if the review has it."""
        try:
            registry = await self._registry(review.namespace, name) if spec is None else None
            fleet = await self._list_tenants(review.namespace, name)
        except KubeError:
            # Only the warning is lost: the status of the object reports the hold as well.
            return Allowed()
        registry_spec = spec or ({} if registry is None else registry.spec)
        is_template = review.kind.kind == "TenantTemplate"
        deleted = [each for each in fleet if not is_template or each.spec.template_ref == review.name]
        annotations = (review.old_object.get("metadata") or {}).get("annotations") or {}
        approval = annotations.get(labels.APPROVE_DELETION, "")
        hold = cascade_hold(
            CascadeDeletion(guarded_tenants(deleted), guarded_tenants(fleet), registry_spec, approval)
        )
        if hold is None:
            return Allowed()
        held = (
            f"{review} waits: {hold.size} Tenants would be deleted with it, more than deletionGuard allows."
        )
        return Allowed(
            warnings=(f'{held} Approve exactly these with {labels.APPROVE_DELETION}: "{hold.approve_with}"',)
        )

    async def _list_tenants(self, namespace: str, registry: str) -> list[Tenant]:
        query = ListQuery(namespace=namespace, label_selector=f"{labels.REGISTRY}={label_value(registry)}")
        return list((await self._client.list(TENANT_KIND, query, Tenant)).items)


def _with_defaults(review: Review, default: Callable[[Manifest], Manifest]) -> AdmissionResponse:
    """Runs before schema validation: a spec that is no object is left for the schema to reject."""
    spec = review.object.get("spec") or {}
    return Allowed({**review.object, "spec": default(spec)} if isinstance(spec, dict) else None)


def _validate_without_registry(review: Review, spec: TenantTemplateSpec) -> AdmissionResponse:
    """The registry may be created later, from the same file: until then its template profile is not known."""
    if problems := validate_template(spec, "full"):
        return deny_problems(review, problems)
    missing = f"spec.registryId: there is no TenantRegistry {spec.registry_id!r} in this namespace yet"
    return Allowed(warnings=(missing, *_warnings(advise_template(spec))))


def _validate_with_registry(
    review: Review, spec: TenantTemplateSpec, registry: Registry
) -> AdmissionResponse:
    profile = str(registry.spec.get("templateProfile") or "hermetic")
    if problems := validate_template(spec, profile):
        return deny_problems(review, problems)
    return Allowed(warnings=_warnings(advise_template(spec, _mapped_variables(registry), profile)))


def _mapped_variables(registry: Registry) -> tuple[str, ...] | None:
    try:
        spec = msgspec.convert(registry.spec, TenantRegistrySpec)
    except msgspec.ValidationError:
        return None
    return () if spec.extra_value_mappings is UNSET else tuple(spec.extra_value_mappings)


def _with_advice(response: AdmissionResponse, advice: list[Problem]) -> AdmissionResponse:
    if not isinstance(response, Allowed):
        return response
    return replace(response, warnings=(*response.warnings, *_warnings(advice)))


def deny_problems(review: Review, problems: list[Problem]) -> Denied:
    """All problems at once, each with its field; those in a template with line, column, the line and a caret."""
    causes = (
        StatusCause(problem.field, _describe_without_field(problem)) for problem in problems[:MAX_PROBLEMS]
    )
    return deny_invalid(f"{review}: {describe_problems(problems)}", *causes)


def _describe_without_field(problem: Problem) -> str:
    return describe_problem(problem).removeprefix(problem.field).removeprefix(", ").removeprefix(": ")


def _warnings(advice: list[Problem]) -> tuple[str, ...]:
    shown = [describe_problem(problem) for problem in advice[:MAX_WARNINGS]]
    if len(advice) > MAX_WARNINGS:
        shown.append(f"and {len(advice) - MAX_WARNINGS} more of this kind")
    return tuple(shown)
