"""Finds templates with objects that an operator with the default flags does not write, for `steward doctor`.

Tenants show what a template writes: their specs hold the rendered objects. A template without Tenants is checked as far
as its text shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from steward.cli.doctor import checks
from steward.cli.doctor.checks import CheckResult
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind
from steward.kube.objects.kinds import NAMESPACE, SERVICE_ACCOUNT, Key, Kind
from steward.kube.objects.meta import Metadata, ObjectMeta, key_of
from steward.kube.objects.options import ListQuery
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.api.tenant import TenantSpec
from steward.tenants.cache_rules import TEMPLATE, TENANT_KIND
from steward.tenants.labels import TENANT
from steward.tenants.objects.access import TenantAccess, TenantScope
from steward.tenants.objects.desired import ObjectScope, desired_objects, kinds_of, resources_of
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.objects.permissions import Permissions
from steward.tenants.status.conditions import describe_problem
from steward.tenants.validation.access import access_advice, refused_fields
from steward.tenants.views import Template

SUBJECT: Final = "templates"
CURE: Final = (
    "label the namespace or set serviceAccountName, as docs/security.md shows; or keep the old behaviour with "
    "--template-scope=cluster"
)


class TenantObject(Struct, frozen=True):
    metadata: ObjectMeta
    spec: dict[str, Any] = {}


class ClusterState(NamedTuple):
    """What the decisions depend on."""

    namespaces: Mapping[str, Mapping[str, str]]
    """By name, the labels."""
    accounts: Mapping[Key, ObjectMeta]
    """ServiceAccounts that Tenants created."""
    templates: Mapping[Key, str]
    """By Tenant, its template."""
    cluster_scoped: frozenset[Kind] = frozenset()

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        return self.namespaces.get(name, {})

    def template_of(self, tenant: Key) -> str:
        return self.templates.get(tenant, "")

    def account(self, key: Key) -> ObjectMeta | None:
        return self.accounts.get(key)


async def check_templates(client: Client, system_namespace: str) -> list[CheckResult]:
    everything = ListQuery()
    labelled = ListQuery(label_selector=TENANT)
    templates, tenants, namespaces, accounts = await asyncio.gather(
        client.list(TEMPLATE, everything, Template),
        client.list(TENANT_KIND, everything, TenantObject),
        client.list(NAMESPACE, everything, Metadata),
        client.list(SERVICE_ACCOUNT, labelled, Metadata),
    )
    state = ClusterState(
        {each.metadata.name: each.metadata.labels for each in namespaces.items},
        {key_of(each): each.metadata for each in accounts.items},
        {key_of(each): str(each.spec.get("templateRef", "")) for each in tenants.items},
    )
    specs = _readable_specs(tenants.items)
    scopes = await _cluster_scoped(client, specs.values())
    permissions = Permissions(operator_namespace=system_namespace)
    return check_access(templates.items, specs, state._replace(cluster_scoped=scopes), permissions)


def _readable_specs(tenants: Iterable[TenantObject]) -> dict[Key, TenantSpec]:
    """Without Tenants that are not rendered: their texts may still be templates."""
    found = {}
    for tenant in tenants:
        try:
            spec = msgspec.convert(tenant.spec, TenantSpec)
        except msgspec.ValidationError:
            continue
        if spec.template_generation is not UNSET:
            found[key_of(tenant)] = spec
    return found


async def _cluster_scoped(client: Client, specs: Iterable[TenantSpec]) -> frozenset[Kind]:
    kinds = {kind for spec in specs for kind in kinds_of(resources_of(spec))}
    found = set()
    for kind in kinds:
        try:
            if not (await client.discovery.resource(kind)).namespaced:
                found.add(kind)
        except NoSuchKind:
            continue
    return frozenset(found)


def check_access(
    templates: Iterable[Template], tenants: Mapping[Key, TenantSpec], state: ClusterState, flags: Permissions
) -> list[CheckResult]:
    """A warning for each template with objects that would be refused; a single result if there is none."""
    refused: dict[Key, list[str]] = {}
    rendered = {Key(key.namespace, spec.template_ref) for key, spec in tenants.items()}
    for key, spec in tenants.items():
        if message := _first_refusal(key, spec, state, flags):
            refused.setdefault(Key(key.namespace, spec.template_ref), []).append(message)
    warnings = [_warning(template, messages) for template, messages in refused.items()]
    for template in templates:
        key = key_of(template)
        if key not in rendered and (message := _first_advice(template, flags)):
            warnings.append(checks.warning(_subject(key), message, CURE))
    if warnings:
        return sorted(warnings, key=lambda result: result.subject)
    return [checks.fine(SUBJECT, f"the objects of all {len(tenants)} Tenants may be written")]


def _first_refusal(key: Key, spec: TenantSpec, state: ClusterState, flags: Permissions) -> str:
    owner = TenantOwner(key.name, key.namespace, "")
    desired = desired_objects(resources_of(spec), ObjectScope(owner, state.cluster_scoped, None))
    account = "" if spec.service_account_name is UNSET else spec.service_account_name
    scope = TenantScope(owner, spec.template_ref, account).with_objects(desired)
    access = TenantAccess(scope, flags, state)
    refusals = (access.refusal(each) for each in desired)
    return next((each.message for each in refusals if each is not None and not each.is_pending), "")


def _first_advice(template: Template, flags: Permissions) -> str:
    try:
        spec = msgspec.convert(template.spec, TenantTemplateSpec)
    except msgspec.ValidationError:
        return ""
    home = template.metadata.namespace
    problems = [*refused_fields(spec, flags), *access_advice(spec, home, flags)]
    return describe_problem(problems[0]) if problems else ""


def _warning(template: Key, messages: list[str]) -> CheckResult:
    count = f"{len(messages)} of its Tenants have" if len(messages) > 1 else "one of its Tenants has"
    return checks.warning(
        _subject(template), f"{count} an object that templates may not write: {messages[0]}", CURE
    )


def _subject(template: Key) -> str:
    return f"template {template}"
