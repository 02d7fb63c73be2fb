"""TenantTemplate: says whether it can be used, puts what is valid in force, counts its Tenants, and leaves in order.

A template that goes takes its Tenants with it: with more of them than the registry's deletion guard allows it waits,
held by its finalizer, until somebody has named exactly that set.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from steward.kube.objects.kinds import Key, Ref
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import own_object
from steward.runtime.controller.triggers import For, Owns, Watches
from steward.runtime.plan.steps import Emit, EventType, Plan, Requeue, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.tenants import labels, reasons
from steward.tenants.api.template import RolloutStatus, TenantTemplateSpec
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.controllers.common.cascade_guard import Departure, departing
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.common.debounce import Moments
from steward.tenants.controllers.common.finalizers import held_by, let_go
from steward.tenants.controllers.template.active_revision import in_force, put_in_force
from steward.tenants.fleet.fleet import counted, template_of
from steward.tenants.status.conditions import conditions_of, has_turned
from steward.tenants.status.template import TemplateState, template_status, valid
from steward.tenants.validation.template import Problem, validate_template
from steward.tenants.views import Registry, Template, Tenant

OF_REGISTRY = "templates of a registry"
OF_TEMPLATE = "tenants of a template"
WRITES_END = 0.2
"""Seconds until it is looked again whether the last write of a Tenant has ended."""


class TemplateReconciler:
    def __init__(self, context: ControllerContext) -> None:
        rules = context.rules
        self.context = context
        self.templates = context.store(rules.template)
        self.templates.add_index(OF_REGISTRY, lambda template: [_registry_key(template)])
        self.registries = context.store(rules.registry)
        self.revisions = context.store(rules.revision)
        self.tenants = context.fleets.tenants
        self.tenants.add_index(OF_TEMPLATE, template_of)
        self._moments = Moments(context.clock)
        self._validated: dict[Key, tuple[object, tuple[Problem, ...]]] = {}

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "template",
            self,
            (
                For(rules.template, when=own_object(labels.APPROVE_DELETION)),
                Owns(rules.revision),
                Watches(rules.registry, to=self._templates_of),
                Watches(rules.every_tenant, to=_template_key),
            ),
            workers=self.context.settings.template_concurrency,
        )

    def _templates_of(self, registry: Registry) -> Iterable[Key]:
        meta = registry.metadata
        found = self.templates.by_index(OF_REGISTRY, str(Key(meta.namespace, meta.name)))
        return [Key(template.metadata.namespace, template.metadata.name) for template in found]

    async def reconcile(self, key: Key) -> Result:
        template = self.templates.get(key)
        if template is None:
            self._moments.forget(key)
            self._validated.pop(key, None)
            self.context.rollouts.pop(key, None)
            return DONE
        wait = self._moments.wait(key, self._inputs(template))
        if wait:
            return RequeueAfter(wait)
        leaves = template.metadata.deletion_timestamp is not None
        plan = self._farewell(template) if leaves else self._welcome(template)
        return (await self.context.executor.execute(plan, Ref(TEMPLATE, key))).result

    def _inputs(self, template: Template) -> object:
        """What is acted upon at once; all else, the counting of Tenants, has a moment."""
        meta = template.metadata
        registry = self._registry(template)
        seen = None if registry is None else (registry.metadata.uid, registry.metadata.generation)
        approval = meta.annotations.get(labels.APPROVE_DELETION)
        rollout = self._rollout(template)
        phase = None if rollout is None else (rollout.phase, rollout.target_generation)
        return meta.uid, meta.generation, meta.deletion_timestamp, meta.finalizers, approval, seen, phase

    def _welcome(self, template: Template) -> Plan:
        meta = template.metadata
        ref = Ref(TEMPLATE, Key(meta.namespace, meta.name))
        problems = self._problems(template)
        current = in_force(self.revisions, meta)
        is_new = not problems and (current is None or current.revision != meta.generation)
        state = self._state(template)._replace(
            problems=problems,
            in_force=meta.generation if not problems else current.revision if current else 0,
        )
        return (
            *held_by(ref, meta, labels.TEMPLATE_FINALIZER),
            *(put_in_force(self.revisions, meta, template.spec) if is_new else ()),
            *_news(ref, state, template.status),
            Status(ref, template_status(state, template.status, self.context.now())),
        )

    def _farewell(self, template: Template) -> Plan:
        meta = template.metadata
        ref = Ref(TEMPLATE, Key(meta.namespace, meta.name))
        if labels.TEMPLATE_FINALIZER not in meta.finalizers:
            return ()
        tenants = self._tenants(template)
        leaving = departing(self._departure(template, tenants))
        # What is still being written belongs to the set that goes, and was not in the one that was named.
        if (leaving.is_released or not tenants) and self.context.is_written(ref.key):
            return (Requeue(WRITES_END),)
        if not tenants:
            return let_go(ref, meta, labels.TEMPLATE_FINALIZER)
        state = self._state(template)._replace(hold=leaving.hold, is_released=leaving.is_released)
        return (Status(ref, template_status(state, template.status, self.context.now())), *leaving.plan)

    def _departure(self, template: Template, tenants: list[Tenant]) -> Departure:
        meta = template.metadata
        registry = self._registry(template)
        return Departure(
            Ref(TEMPLATE, Key(meta.namespace, meta.name)),
            tenants,
            self.context.fleets.of(Key(meta.namespace, _registry_id(template))),
            {} if registry is None else registry.spec,
            meta.annotations.get(labels.APPROVE_DELETION, ""),
            conditions_of(template.status),
        )

    def _state(self, template: Template) -> TemplateState:
        meta = template.metadata
        return TemplateState(meta, counts=counted(self._tenants(template)), rollout=self._rollout(template))

    def _rollout(self, template: Template) -> RolloutStatus | None:
        """As its registry found it; until then as the status has it from before a restart."""
        key = Key(template.metadata.namespace, template.metadata.name)
        known = self.context.rollouts
        return known[key] if key in known else rollout_of(template)

    def _tenants(self, template: Template) -> list[Tenant]:
        meta = template.metadata
        return self.tenants.by_index(OF_TEMPLATE, str(Key(meta.namespace, meta.name)))

    def _registry(self, template: Template) -> Registry | None:
        return self.registries.get(Key(template.metadata.namespace, _registry_id(template)))

    def _problems(self, template: Template) -> tuple[Problem, ...]:
        """Parsing every text is dear, so that it is done once for each version."""
        meta = template.metadata
        key = Key(meta.namespace, meta.name)
        registry = self._registry(template)
        profile = None if registry is None else registry.spec.get("templateProfile", "hermetic")
        version = (meta.uid, meta.generation, profile)
        known = self._validated.get(key)
        if known is None or known[0] != version:
            known = self._validated[key] = (version, tuple(problems_of(template, profile)))
        return known[1]


def problems_of(template: Template, profile: str | None) -> list[Problem]:
    """Everything that keeps the template from being used; the profile is None while there is no registry."""
    try:
        spec = msgspec.convert(template.spec, TenantTemplateSpec)
    except msgspec.ValidationError as error:
        return [Problem("spec", str(error))]
    found = validate_template(spec, profile or "hermetic")
    if profile is None:
        name = _registry_id(template)
        told = f"there is no TenantRegistry {name!r} in this namespace: make it, or correct the name"
        return [Problem("spec.registryId", told), *found]
    return found


def _news(ref: Ref, state: TemplateState, before: dict[str, Any]) -> Plan:
    said = valid(state)
    if not has_turned(conditions_of(before), said):
        return ()
    kind = EventType.NORMAL if said.holds else EventType.WARNING
    missing = any(problem.field == "spec.registryId" for problem in state.problems)
    reason = reasons.REGISTRY_NOT_FOUND if missing and len(state.problems) == 1 else said.reason
    return (Emit(ref, reason, said.message, kind),)


def rollout_of(template: Template) -> RolloutStatus | None:
    try:
        return msgspec.convert(template.status["rollout"], RolloutStatus)
    except (KeyError, msgspec.ValidationError):
        return None


def _registry_id(template: Template) -> str:
    return str(template.spec.get("registryId", ""))


def _registry_key(template: Template) -> str:
    return str(Key(template.metadata.namespace, _registry_id(template)))


def _template_key(tenant: Tenant) -> list[Key]:
    return [Key(tenant.metadata.namespace, tenant.spec.template_ref)]
