"""Compares the rights that roles grant with those that were used, as the audit log tells: least privilege, derived.

    granted = grants(manifests_of_my_roles)
    used = uses(calls_of_my_service_account)
    assert unused(granted, used) == []
    assert refusals(calls_of_my_service_account) == []

Pure. Which calls use a right without saying so is kept here: an apply (or an update) that made its object used `create`
beside its own verb, and a call in somebody else's place used `impersonate` and none of the caller's other rights.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from steward.testkit.audit import Audited

_MADE = 201
_FORBIDDEN = 403
_ACCOUNT = "system:serviceaccount:"
_MAY_MAKE = frozenset({"patch", "update"})


class Use(NamedTuple):
    """A right as one call used it. The resource holds the subresource: `pods/eviction`."""

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
    """One verb on one resource that a role grants, in one namespace (else in all) and by one name (else by any)."""

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
    """What Roles and ClusterRoles grant, one by one. Rules about paths are of no kind and left out."""
    return [grant for role in roles for rule in role.get("rules") or () for grant in _of_rule(role, rule)]


def _of_rule(role: dict[str, Any], rule: dict[str, Any]) -> list[Grant]:
    meta = role["metadata"]
    return [
        Grant(meta["name"], verb, group, resource, meta.get("namespace", ""), name)
        for group in rule.get("apiGroups") or ()
        for resource in rule.get("resources") or ()
        for verb in rule["verbs"]
        for name in rule.get("resourceNames") or ("",)
    ]


def uses(calls: Iterable[Audited]) -> set[Use]:
    """The rights of the caller's own that were used, whatever came of the calls afterwards."""
    return {use for audited in calls for use in _of_call(audited)}


def _of_call(audited: Audited) -> list[Use]:
    if audited.acting_as:
        return [_impersonation(audited.acting_as)]
    own = _asked(audited)
    if not audited.is_allowed or not own.resource:
        return []
    made = audited.code == _MADE and own.verb in _MAY_MAKE
    return [own, own._replace(verb="create")] if made else [own]


def _asked(audited: Audited) -> Use:
    call = audited.call
    resource = f"{call.resource}/{call.subresource}" if call.subresource else call.resource
    return Use(call.verb, call.group, resource, call.namespace, call.name)


def _impersonation(user: str) -> Use:
    if not user.startswith(_ACCOUNT):
        return Use("impersonate", "", "users", "", user)
    namespace, name = user.removeprefix(_ACCOUNT).split(":", 1)
    return Use("impersonate", "", "serviceaccounts", namespace, name)


def unused(granted: Iterable[Grant], used: Iterable[Use]) -> list[Grant]:
    """Those that nothing used, in the order of the roles."""
    found = set(used)
    exact: set[tuple[str, ...]] = {use[:3] for use in found}
    return [grant for grant in granted if not _is_used(grant, found, exact)]


def _is_used(grant: Grant, found: set[Use], exact: set[tuple[str, ...]]) -> bool:
    is_plain = not grant.namespace and not grant.name and "*" not in grant
    return grant[1:4] in exact if is_plain else any(grant.covers(use) for use in found)


def refusals(calls: Iterable[Audited]) -> list[Use]:
    """What was asked for without the right to it. Others refuse as well: admission, and who is impersonated."""
    found = {
        _asked(audited)
        for audited in calls
        if audited.code == _FORBIDDEN and not audited.is_allowed and not audited.acting_as
    }
    return sorted(found)
