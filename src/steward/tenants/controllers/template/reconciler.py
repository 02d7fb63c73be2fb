"""The TenantTemplate controller: validates, activates valid content, counts Tenants, and deletes them with the
template.

If a deleted template has more Tenants than the registry's deletion guard allows, its finalizer holds it until a user
has approved exactly that set.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from steward.kube.bounded_cache import LruCache
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import own_object
from steward.runtime.controller.triggers import For, Owns, Watches
from steward.runtime.plan.finalizers import add_finalizer, remove_finalizer
from steward.runtime.plan.steps import Emit, EventType, Plan, Requeue, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.tenants import labels, reasons
from steward.tenants.api.template import RolloutStatus, TenantTemplateSpec
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.controllers.common.cascade_guard import CascadeRequest, decide_cascade
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.debounce import ReconcileDebounce
from steward.tenants.controllers.template.active_revision import activation_steps, active_revision
from steward.tenants.objects.permissions import CLUSTER_SCOPE
from steward.tenants.status.conditions import has_changed, read_conditions
from steward.tenants.status.pause import MESSAGE, is_paused, is_reported
from steward.tenants.status.template import TemplateObservation, template_status, valid_condition
from steward.tenants.validation.problems import Problem
from steward.tenants.validation.template import validate_template
from steward.tenants.views import Registry, Template, Tenant

BY_REGISTRY = "templates of a registry"
WRITE_POLL_SECONDS = 0.2
"""How often a terminating template checks whether the last write of its Tenants has ended."""

VALIDATIONS_CACHED = 1000


class _Validation(NamedTuple):
    version: object
    problems: tuple[Problem, ...]


class TenantTemplateReconciler:
    def __init__(self, context: TenantsContext) -> None:
        rules = context.rules
        self.context = context
        self.templates = context.store(rules.template)
        self.templates.add_index(BY_REGISTRY, lambda template: [_registry_index_value(template)])
        self.registries = context.store(rules.registry)
        self.revisions = context.store(rules.revision)
        self.tenants = context.fleets.tenants
        self._debounce = ReconcileDebounce(context.clock)
        self._validated: LruCache[Key, _Validation] = LruCache(VALIDATIONS_CACHED)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "template",
            self,
            (
                For(rules.template, when=own_object(labels.APPROVE_DELETION)),
                Owns(rules.revision),
                Watches(rules.registry, to=self._templates_of),
                Watches(rules.every_tenant, to=_template_keys),
            ),
            workers=self.context.settings.template_concurrency,
            channel=self.context.rollouts.changed,
        )

    def _templates_of(self, registry: Registry) -> Iterable[Key]:
        return [key_of(template) for template in self.templates.by_index(BY_REGISTRY, str(key_of(registry)))]

    async def reconcile(self, key: Key) -> Result:
        template = self.templates.get(key)
        if template is None:
            self._debounce.forget(key)
            self._validated.forget(key)
            self.context.rollouts.forget(key)
            return DONE
        wait = self._debounce.seconds_to_wait(key, self._inputs(template))
        if wait:
            return RequeueAfter(wait)
        is_terminating = template.metadata.deletion_timestamp is not None
        plan = self._deletion_plan(template) if is_terminating else self._plan(template)
        return (await self.context.executor.execute(plan, Ref(TEMPLATE, key))).result

    def _inputs(self, template: Template) -> object:
        """A change of these is reconciled at once; all others, such as the readiness of Tenants, are debounced."""
        meta = template.metadata
        registry = self._registry(template)
        version = None if registry is None else (registry.metadata.uid, registry.metadata.generation)
        approval = meta.annotations.get(labels.APPROVE_DELETION)
        rollout = self._rollout(template)
        phase = None if rollout is None else (rollout.phase, rollout.target_generation)
        return meta.uid, meta.generation, meta.deletion_timestamp, meta.finalizers, approval, version, phase

    def _plan(self, template: Template) -> Plan:
        meta = template.metadata
        ref = Ref(TEMPLATE, key_of(template))
        problems = self._problems(template)
        current = active_revision(self.revisions, meta)
        is_outdated = current is None or current.revision != meta.generation
        is_new = is_outdated and not problems and not is_paused(template.spec)
        observation = self._observe(template)._replace(
            problems=problems,
            active_generation=meta.generation if is_new else current.revision if current else 0,
        )
        return (
            *add_finalizer(ref, meta, labels.TEMPLATE_FINALIZER),
            *(activation_steps(self.revisions, meta, template.spec) if is_new else ()),
            *_validation_events(ref, observation, template.status),
            *_pause_events(ref, observation, template.status),
            Status(ref, template_status(observation, template.status, self.context.now())),
        )

    def _deletion_plan(self, template: Template) -> Plan:
        meta = template.metadata
        ref = Ref(TEMPLATE, key_of(template))
        if labels.TEMPLATE_FINALIZER not in meta.finalizers:
            return ()
        tenants = self._tenants(template)
        cascade = decide_cascade(self._cascade_request(template, tenants))
        # A Tenant that is being written would be deleted too, and was not in the approved set.
        if (cascade.is_released or not tenants) and self.context.rollouts.is_writing(ref.key):
            return (Requeue(WRITE_POLL_SECONDS),)
        if not tenants:
            return remove_finalizer(ref, meta, labels.TEMPLATE_FINALIZER)
        observation = self._observe(template)._replace(
            hold=cascade.hold, is_released=cascade.is_released, stall=cascade.stall
        )
        return (Status(ref, template_status(observation, template.status, self.context.now())), *cascade.plan)

    def _cascade_request(self, template: Template, tenants: list[Tenant]) -> CascadeRequest:
        meta = template.metadata
        registry = self._registry(template)
        return CascadeRequest(
            Ref(TEMPLATE, key_of(template)),
            tenants,
            self.context.fleets.tenants_of(Key(meta.namespace, _registry_id(template))),
            {} if registry is None else registry.spec,
            meta.annotations.get(labels.APPROVE_DELETION, ""),
            read_conditions(template.status),
        )

    def _observe(self, template: Template) -> TemplateObservation:
        is_open = self.context.settings.template_scope == CLUSTER_SCOPE
        return TemplateObservation(
            template.metadata,
            counts=self.context.fleets.template_counts(key_of(template)),
            rollout=self._rollout(template),
            is_paused=is_paused(template.spec),
            is_unrestricted=is_open and not template.spec.get("serviceAccountName"),
        )

    def _rollout(self, template: Template) -> RolloutStatus | None:
        """As the registry controller reported it; after a restart, until then, from the status."""
        key, statuses = key_of(template), self.context.rollouts.statuses
        return statuses[key] if key in statuses else recorded_rollout(template)

    def _tenants(self, template: Template) -> list[Tenant]:
        """Without an index, which every Tenant would take memory for: this is asked when a template is deleted."""
        meta = template.metadata
        in_namespace = self.tenants.list(meta.namespace)
        return [tenant for tenant in in_namespace if tenant.spec.template_ref == meta.name]

    def _registry(self, template: Template) -> Registry | None:
        return self.registries.get(Key(template.metadata.namespace, _registry_id(template)))

    def _problems(self, template: Template) -> tuple[Problem, ...]:
        """Validated once for each version: parsing every text is expensive."""
        meta, key = template.metadata, key_of(template)
        registry = self._registry(template)
        profile = None if registry is None else registry.spec.get("templateProfile", "hermetic")
        version = (meta.uid, meta.generation, profile)
        known = self._validated.get(key)
        if known is None or known.version != version:
            known = _Validation(version, tuple(template_problems(template, profile)))
            self._validated.set(key, known)
        return known.problems


def template_problems(template: Template, profile: str | None) -> list[Problem]:
    """Everything that makes the template unusable; the profile is None while its registry does not exist."""
    try:
        spec = msgspec.convert(template.spec, TenantTemplateSpec)
    except msgspec.ValidationError as error:
        return [Problem("spec", str(error))]
    problems = validate_template(spec, profile or "hermetic")
    if profile is None:
        name = _registry_id(template)
        message = f"there is no TenantRegistry {name!r} in this namespace: create it, or correct the name"
        return [Problem("spec.registryId", message), *problems]
    return problems


def _validation_events(ref: Ref, observation: TemplateObservation, previous: dict[str, Any]) -> Plan:
    condition = valid_condition(observation)
    if not has_changed(read_conditions(previous), condition):
        return ()
    kind = EventType.NORMAL if condition.is_true else EventType.WARNING
    missing = any(problem.field == "spec.registryId" for problem in observation.problems)
    reason = reasons.REGISTRY_NOT_FOUND if missing and len(observation.problems) == 1 else condition.reason
    return (Emit(ref, reason, condition.message, kind),)


def _pause_events(ref: Ref, observation: TemplateObservation, previous: dict[str, Any]) -> Plan:
    if not observation.is_paused or is_reported(previous):
        return ()
    return (Emit(ref, reasons.PAUSED, MESSAGE),)


def recorded_rollout(template: Template) -> RolloutStatus | None:
    try:
        return msgspec.convert(template.status["rollout"], RolloutStatus)
    except (KeyError, msgspec.ValidationError):
        return None


def _registry_id(template: Template) -> str:
    return str(template.spec.get("registryId", ""))


def _registry_index_value(template: Template) -> str:
    return str(Key(template.metadata.namespace, _registry_id(template)))


def _template_keys(tenant: Tenant) -> list[Key]:
    return [Key(tenant.metadata.namespace, tenant.spec.template_ref)]
