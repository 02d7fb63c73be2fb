"""The webhooks of tenants: a courtesy, not a wall. What they refuse, reconcile would refuse as well, only later.

A deletion is never refused: one that is over the guard's limits waits by its finalizer, and here it is said at once,
with the words that let it go on.
"""

from collections.abc import Callable

import msgspec

from steward.admission.review import Allowed, Cause, Denied, Operation, Review, Verdict, invalid
from steward.admission.server import Webhook, Work
from steward.kube.client.client import Client
from steward.kube.errors import KubeError, NotFound
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.kube.objects.options import ListQuery
from steward.tenants import labels
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.cache_rules import REGISTRY, TENANT_KIND
from steward.tenants.controllers.common.cascade_guard import Departure, hold_of
from steward.tenants.names import label_value
from steward.tenants.status.conditions import told, told_together
from steward.tenants.validation.defaulting import default_registry, default_template
from steward.tenants.validation.registry import advise_registry, validate_registry
from steward.tenants.validation.template import MOST_PROBLEMS, Problem, advise_template, validate_template
from steward.tenants.views import Registry, Tenant

SHOWN_WARNINGS = 10
PATH = "operator-kubernetes-tenants-org-v1"


class TenantWebhooks:
    def __init__(self, client: Client) -> None:
        self._client = client

    def webhooks(self) -> list[Webhook]:
        return [
            Webhook(f"/mutate-{PATH}-tenantregistry", self.default_registry, Work.DEFAULT),
            Webhook(f"/validate-{PATH}-tenantregistry", self.validate_registry),
            Webhook(f"/mutate-{PATH}-tenanttemplate", self.default_template, Work.DEFAULT),
            Webhook(f"/validate-{PATH}-tenanttemplate", self.validate_template),
        ]

    async def default_registry(self, review: Review) -> Verdict:
        return _defaulted(review, default_registry)

    async def default_template(self, review: Review) -> Verdict:
        return _defaulted(review, default_template)

    async def validate_registry(self, review: Review) -> Verdict:
        if review.operation is Operation.DELETE:
            return await self._departure(review, review.old_object.get("spec") or {}, review.name)
        try:
            spec = msgspec.convert(review.object.get("spec") or {}, TenantRegistrySpec)
        except msgspec.ValidationError as error:
            return invalid(f"{review}: {error}")
        if problems := validate_registry(spec):
            return refusal(review, problems)
        return Allowed(warnings=_warnings(advise_registry(spec)))

    async def validate_template(self, review: Review) -> Verdict:
        if review.operation is Operation.DELETE:
            name = str((review.old_object.get("spec") or {}).get("registryId", ""))
            return await self._departure(review, None, name)
        try:
            spec = msgspec.convert(review.object.get("spec") or {}, TenantTemplateSpec)
        except msgspec.ValidationError as error:
            return invalid(f"{review}: {error}")
        registry = await self._registry(review.namespace, spec.registry_id)
        if registry is None:
            return _judged_alone(review, spec)
        return _judged_with(review, spec, registry)

    async def _registry(self, namespace: str, name: str) -> Registry | None:
        """Asked of the server: a registry and its template are often applied in one breath."""
        try:
            return await self._client.get(REGISTRY, Key(namespace, name), Registry)
        except NotFound:
            return None

    async def _departure(self, review: Review, spec: dict[str, object] | None, name: str) -> Verdict:
        """`spec` is that of the registry where the review holds it."""
        try:
            registry = await self._registry(review.namespace, name) if spec is None else None
            fleet = await self._fleet(review.namespace, name)
        except KubeError:
            # A courtesy: whoever cannot count the Tenants now is told by the object's own status.
            return Allowed()
        rules = spec or ({} if registry is None else registry.spec)
        is_template = review.kind.kind == "TenantTemplate"
        leaving = [each for each in fleet if not is_template or each.spec.template_ref == review.name]
        annotations = (review.old_object.get("metadata") or {}).get("annotations") or {}
        approval = annotations.get(labels.APPROVE_DELETION, "")
        ref = Ref(REGISTRY, Key(review.namespace, review.name))
        hold = hold_of(Departure(ref, leaving, fleet, rules, approval, ()))
        if hold is None:
            return Allowed()
        held = f"{review} waits: {hold.size} Tenants would go with it, more than deletionGuard allows."
        return Allowed(
            warnings=(f'{held} Let exactly these go with {labels.APPROVE_DELETION}: "{hold.approve_with}"',)
        )

    async def _fleet(self, namespace: str, registry: str) -> list[Tenant]:
        query = ListQuery(namespace=namespace, label_selector=f"{labels.REGISTRY}={label_value(registry)}")
        return list((await self._client.list(TENANT_KIND, query, Tenant)).items)


def _defaulted(review: Review, default: Callable[[Manifest], Manifest]) -> Verdict:
    """Asked before the schema is: what is no map is left for it to refuse, in its own words."""
    spec = review.object.get("spec") or {}
    return Allowed({**review.object, "spec": default(spec)} if isinstance(spec, dict) else None)


def _judged_alone(review: Review, spec: TenantTemplateSpec) -> Verdict:
    """Without its registry, which may come later in the same file: then what it allows is not known yet."""
    if problems := validate_template(spec, "full"):
        return refusal(review, problems)
    missing = f"spec.registryId: there is no TenantRegistry {spec.registry_id!r} in this namespace yet"
    return Allowed(warnings=(missing, *_warnings(advise_template(spec))))


def _judged_with(review: Review, spec: TenantTemplateSpec, registry: Registry) -> Verdict:
    profile = str(registry.spec.get("templateProfile") or "hermetic")
    if problems := validate_template(spec, profile):
        return refusal(review, problems)
    return Allowed(warnings=_warnings(advise_template(spec, _mapped(registry), profile)))


def _mapped(registry: Registry) -> tuple[str, ...] | None:
    try:
        spec = msgspec.convert(registry.spec, TenantRegistrySpec)
    except msgspec.ValidationError:
        return None
    return () if spec.extra_value_mappings is UNSET else tuple(spec.extra_value_mappings)


def refusal(review: Review, problems: list[Problem]) -> Denied:
    """Every error at once, each with its field; for a template with line, column, the line and a caret."""
    causes = (Cause(problem.field, _placed(problem)) for problem in problems[:MOST_PROBLEMS])
    return invalid(f"{review}: {told_together(problems)}", *causes)


def _placed(problem: Problem) -> str:
    return told(problem).removeprefix(problem.field).removeprefix(", ").removeprefix(": ")


def _warnings(advice: list[Problem]) -> tuple[str, ...]:
    shown = [told(problem) for problem in advice[:SHOWN_WARNINGS]]
    if len(advice) > SHOWN_WARNINGS:
        shown.append(f"and {len(advice) - SHOWN_WARNINGS} more of this kind")
    return tuple(shown)
