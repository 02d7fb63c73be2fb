"""Compares the permissions that roles grant with those that were used according to the audit log.

    granted = grants(manifests_of_my_roles)
    used = uses(calls_of_my_service_account)
    assert unused_grants(granted, used) == []
    assert denied_uses(calls_of_my_service_account) == []

Pure. Some calls use a permission that their verb does not name: an apply (or an update) that created its object used
`create` as well, and a call under impersonation used `impersonate` and none of the caller's other permissions.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from steward.testkit.audit import AuditedCall

_CREATED = 201
_FORBIDDEN = 403
_ACCOUNT = "system:serviceaccount:"
_MAY_CREATE = frozenset({"patch", "update"})


class Use(NamedTuple):
    """A permission that one call used. The resource includes the subresource: `pods/eviction`."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        full = f"{self.resource}.{self.group}" if self.group else self.resource
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {full}{f' {self.name}' if self.name else ''}{where}"


class Grant(NamedTuple):
    """One verb on one resource that a role grants, in one namespace or all, and for one name or all."""

    role: str
    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.role}: {Use(*self[1:])}"

    def covers(self, use: Use) -> bool:
        return (
            self.verb in (use.verb, "*")
            and self.group in (use.group, "*")
            and self.resource in (use.resource, "*")
            and self.namespace in (use.namespace, "")
            and self.name in (use.name, "")
        )


def grants(roles: Iterable[dict[str, Any]]) -> list[Grant]:
    """The single grants of Roles and ClusterRoles, without rules for non-resource URLs."""
    return [grant for role in roles for rule in role.get("rules") or () for grant in _rule_grants(role, rule)]


def _rule_grants(role: dict[str, Any], rule: dict[str, Any]) -> list[Grant]:
    meta = role["metadata"]
    return [
        Grant(meta["name"], verb, group, resource, meta.get("namespace", ""), name)
        for group in rule.get("apiGroups") or ()
        for resource in rule.get("resources") or ()
        for verb in rule["verbs"]
        for name in rule.get("resourceNames") or ("",)
    ]


def uses(calls: Iterable[AuditedCall]) -> set[Use]:
    """The caller's permissions that were used, whatever the result of the calls."""
    return {use for audited in calls for use in _call_uses(audited)}


def _call_uses(audited: AuditedCall) -> list[Use]:
    if audited.acting_as:
        return [_impersonation(audited.acting_as)]
    requested = _requested_use(audited)
    if not audited.is_allowed or not requested.resource:
        return []
    created = audited.code == _CREATED and requested.verb in _MAY_CREATE
    return [requested, requested._replace(verb="create")] if created else [requested]


def _requested_use(audited: AuditedCall) -> Use:
    call = audited.call
    resource = f"{call.resource}/{call.subresource}" if call.subresource else call.resource
    return Use(call.verb, call.group, resource, call.namespace, call.name)


def _impersonation(user: str) -> Use:
    if not user.startswith(_ACCOUNT):
        return Use("impersonate", "", "users", "", user)
    namespace, name = user.removeprefix(_ACCOUNT).split(":", 1)
    return Use("impersonate", "", "serviceaccounts", namespace, name)


def unused_grants(granted: Iterable[Grant], used: Iterable[Use]) -> list[Grant]:
    """The grants that were not used, in the order of the roles."""
    found = set(used)
    exact: set[tuple[str, ...]] = {use[:3] for use in found}
    return [grant for grant in granted if not _is_used(grant, found, exact)]


def _is_used(grant: Grant, found: set[Use], exact: set[tuple[str, ...]]) -> bool:
    is_plain = not grant.namespace and not grant.name and "*" not in grant
    return grant[1:4] in exact if is_plain else any(grant.covers(use) for use in found)


def denied_uses(calls: Iterable[AuditedCall]) -> list[Use]:
    """Calls that RBAC denied. Denials by admission, or of an impersonated user, are left out."""
    found = {
        _requested_use(audited)
        for audited in calls
        if audited.code == _FORBIDDEN and not audited.is_allowed and not audited.acting_as
    }
    return sorted(found)
