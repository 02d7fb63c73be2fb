"""The checks of `steward doctor` that review rights: those of the operators, and to act as accounts of templates."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from msgspec import structs

from steward.cli.doctor import checks
from steward.cli.doctor.checks import CheckResult
from steward.install import manifests
from steward.install.operators import TENANTS, ShippedOperator
from steward.install.rbac_rules import (
    CLUSTER_RULES,
    NAMESPACE_RULES,
    RbacRule,
    inside_namespaces,
    outside_namespaces,
)
from steward.install.values import Values
from steward.kube.client.client import Access, Client, Subject
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind, Manifest
from steward.tenants.api.group import API_VERSION

ACCOUNTS = "service accounts of templates"
_MAX_CONCURRENT = 16
_MAX_LISTED = 10


async def check_rights(client: Client, operator: ShippedOperator, system: str) -> CheckResult:
    """Compares the roles with the shipped ones; if they differ, reviews every access by itself."""
    subject = f"{operator.name} rights"
    namespaces = installed_namespaces(
        await _get_or_none(client, kinds.DEPLOYMENT, Key(system, operator.name))
    )
    shipped = manifests.rbac(operator, _values(operator, system, namespaces))
    refs = [kinds.ref_of(each) for each in shipped]
    live_objects = await asyncio.gather(*(_get_or_none(client, ref.kind, ref.key) for ref in refs))
    if all(checks.contains(live, each) for live, each in zip(live_objects, shipped, strict=True)):
        return checks.fine(subject, "the shipped roles are installed and bound")
    if await _get_or_none(client, kinds.SERVICE_ACCOUNT, Key(system, operator.name)) is None:
        message = f"there is no ServiceAccount {system}/{operator.name}"
        cure = f"{checks.install_command()}; or name its namespace with --system-namespace"
        return checks.broken(subject, message, cure)
    accesses = _needed_accesses(operator, system, namespaces)
    missing = await _missing_accesses(client, _account_subject(operator, system), accesses)
    if missing:
        message = (
            f"{_user(operator, system)} lacks {len(missing)} of {len(accesses)}: "
            f"{', '.join(map(_describe_access, missing[:3]))}"
        )
        return checks.broken(subject, message, f"{checks.install_command()}, which applies the shipped roles")
    return checks.fine(subject, f"all {len(accesses)} are granted")


def installed_namespaces(deployment: Manifest | None) -> list[str]:
    """The namespaces that the installation limits the operator to; none for all."""
    containers = [] if deployment is None else deployment["spec"]["template"]["spec"]["containers"]
    for argument in [each for container in containers for each in container.get("args") or ()]:
        flag, _, names = argument.partition("=")
        if flag == "--namespaces":
            return [name.strip() for name in names.split(",") if name.strip()]
    return []


def _values(operator: ShippedOperator, system: str, namespaces: list[str]) -> Values:
    values = Values(namespace=system)
    limited = structs.replace(manifests.operator_values(operator, values), namespaces=namespaces)
    return structs.replace(values, **{operator.short_name: limited})


def _needed_accesses(operator: ShippedOperator, system: str, namespaces: list[str]) -> list[Access]:
    own = [(rule, system) for rule in NAMESPACE_RULES]
    if not namespaces:
        rules = [*((rule, "") for rule in CLUSTER_RULES[operator]), *own]
    else:
        inside = [(rule, name) for name in namespaces for rule in inside_namespaces(operator)]
        rules = [*((rule, "") for rule in outside_namespaces(operator)), *inside, *own]
    return [access for rule, namespace in rules for access in _rule_accesses(rule, namespace)]


async def check_accounts(client: Client, system: str) -> CheckResult:
    """Reviews whether the tenants operator may act as the accounts that templates name."""
    accounts = await _template_accounts(client)
    reviewed = [
        Access(verb="impersonate", resource="serviceaccounts", namespace=key.namespace, name=key.name)
        for key in accounts
    ]
    missing = await _missing_accesses(client, _account_subject(TENANTS, system), reviewed)
    if not accounts:
        return checks.fine(ACCOUNTS, "no template names one")
    if not missing:
        return checks.fine(ACCOUNTS, f"the operator may act as all {len(accounts)}")
    names = ", ".join(f"{access.namespace}/{access.name}" for access in missing[:_MAX_LISTED])
    more = f" and {len(missing) - _MAX_LISTED} more" if len(missing) > _MAX_LISTED else ""
    return checks.broken(
        ACCOUNTS,
        f"the operator may not act as {names}{more}, so their templates are not applied",
        "name them in tenants.impersonate of the installation, or grant impersonate by a Role and a RoleBinding there",
    )


async def _template_accounts(client: Client) -> list[Key]:
    try:
        templates = await client.list(Kind(API_VERSION, "TenantTemplate"))
    except (NoSuchKind, NotFound):
        return []
    named = {
        Key(item["metadata"]["namespace"], str(account))
        for item in templates.items
        if (account := (item.get("spec") or {}).get("serviceAccountName"))
    }
    return sorted(named)


async def _get_or_none(client: Client, kind: Kind, key: Key) -> Manifest | None:
    try:
        return await client.get(kind, key)
    except (NotFound, NoSuchKind):
        return None


def _user(operator: ShippedOperator, system: str) -> str:
    return f"system:serviceaccount:{system}:{operator.name}"


def _account_subject(operator: ShippedOperator, system: str) -> Subject:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{system}", "system:authenticated")
    return Subject(user=_user(operator, system), groups=groups)


async def _missing_accesses(client: Client, subject: Subject, accesses: list[Access]) -> list[Access]:
    semaphore = asyncio.Semaphore(_MAX_CONCURRENT)

    async def is_allowed(access: Access) -> bool:
        async with semaphore:
            return (await client.review_access(access, subject)).allowed

    allowed = await asyncio.gather(*map(is_allowed, accesses))
    return [access for access, has_access in zip(accesses, allowed, strict=True) if not has_access]


def _rule_accesses(rule: RbacRule, namespace: str) -> Iterator[Access]:
    for resource in rule.resources:
        name, _, subresource = resource.partition("/")
        for verb in rule.verbs:
            for named in rule.names or ("",):
                yield Access(
                    verb=verb,
                    resource=name,
                    subresource=subresource,
                    group=rule.group,
                    namespace=namespace,
                    name=named,
                )


def _describe_access(access: Access) -> str:
    resource = f"{access.resource}/{access.subresource}" if access.subresource else access.resource
    return f"{access.verb} {resource}" + (f".{access.group}" if access.group else "")
