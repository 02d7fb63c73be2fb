"""The admission policies that limit the operators: the API server denies to their accounts what they never need.

A role grants kinds; it cannot exclude a namespace, the type of a Secret or a field. A policy can, and it holds also for
rights that are granted later. Each operator has a policy, which is evaluated for every write of its service account. It
sees no reads, and no request that the operator makes as another account (`serviceAccountName` of a template): such a
request has the rights of that account, and the policy does not know where it comes from.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.install import admission_expressions as expressions
from steward.install.admission_expressions import VARIABLES, PolicyRule
from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator, labels
from steward.install.rbac_rules import CLUSTER_RULES, NAMESPACE_RULES
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest
from steward.multigres import webhook_configurations as multigres_rules
from steward.multigres.api.group import GROUP as MULTIGRES_GROUP
from steward.multigres.objects.metadata import CLUSTER_LABEL, FIELD_MANAGER, MANAGED_BY_LABEL
from steward.tenants import webhook_configurations as tenant_rules
from steward.tenants.api.group import GROUP as TENANTS_GROUP
from steward.tenants.labels import ORPHANED, TENANT

API_VERSION = "admissionregistration.k8s.io/v1"
CERTIFICATE_SECRETS = {
    MULTIGRES: ("multigres-operator-ca-secret", "multigres-webhook-certs"),
    TENANTS: ("tenant-operator-ca-secret", "tenant-operator-webhook-certs"),
}
"""The Secrets that an operator writes for its webhooks, in its own namespace."""
OWN_GROUPS = {MULTIGRES: MULTIGRES_GROUP, TENANTS: TENANTS_GROUP}
PRIVILEGED_GROUPS = (
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.openshift.io",
    "certificates.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
)
PRIVILEGED_RESOURCES = ("/nodes", "/bindings")
_HOST_MESSAGE = (
    "pods of Steward have no access to their node: no host namespaces, hostPath volumes, privileged or unconfined "
    "containers, or added capabilities"
)
_ACCOUNT_MESSAGE = (
    "pods of Steward run as no service account with rights in the whole cluster (to list Secrets, create pods, "
    "impersonate users, bind cluster roles or register webhooks)"
)
_NAMESPACE_MESSAGE = "templates change and delete only Namespaces that a Tenant has created"


class PolicySettings(NamedTuple):
    """The values that a policy depends on. `allowed_kinds` is a list in CEL."""

    namespace: str
    allowed_kinds: str = "[]"
    template_scope: str = "own"


def policy_settings(values: Values) -> PolicySettings:
    allowed = expressions.list_literal(values.tenants.allow_kinds)
    return PolicySettings(values.namespace, allowed, values.tenants.template_scope)


def policy_name(operator: ShippedOperator) -> str:
    return f"{operator.name}-limits"


def operator_policy(operator: ShippedOperator, settings: PolicySettings) -> list[Manifest]:
    """The policy of an operator and its binding."""
    name = policy_name(operator)
    metadata = {"name": name, "labels": labels(operator)}
    user = f"system:serviceaccount:{settings.namespace}:{operator.name}"
    return [
        {
            "apiVersion": API_VERSION,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": _every_write(),
                "matchConditions": [
                    {
                        "name": "is-the-operator",
                        "expression": f"has(request.userInfo.username) && request.userInfo.username == '{user}'",
                    }
                ],
                "variables": [variable._asdict() for variable in (*VARIABLES, _MANAGED[operator])],
                "validations": [_validation(rule) for rule in _RULES[operator](settings)],
            },
        },
        {
            "apiVersion": API_VERSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    ]


def _every_write() -> Manifest:
    """All resources, also those that the shipped roles do not grant; not events, which are harmless and many."""
    return {
        "resourceRules": [_resource_rule(["*"], "*/*")],
        "excludeResourceRules": [_resource_rule(["", "events.k8s.io"], "events")],
    }


def _resource_rule(groups: list[str], resource: str) -> Manifest:
    return {"apiGroups": groups, "apiVersions": ["*"], "operations": ["*"], "resources": [resource]}


def _validation(rule: PolicyRule) -> Manifest:
    return {"expression": rule.expression, "message": rule.message, "reason": "Forbidden"}


def _common_rules(operator: ShippedOperator, settings: PolicySettings) -> list[PolicyRule]:
    names = tuple(each.name for each in OPERATORS)
    allowed = settings.allowed_kinds if operator == TENANTS else "[]"
    return [
        expressions.outside_system_namespaces(OWN_GROUPS[operator]),
        expressions.no_token_secrets(),
        expressions.only_the_bundle_of(_WEBHOOK_CONFIGURATIONS[operator], allowed),
        expressions.no_account_of(settings.namespace, names),
    ]


def _multigres_rules(settings: PolicySettings) -> list[PolicyRule]:
    secrets, group = CERTIFICATE_SECRETS[MULTIGRES], OWN_GROUPS[MULTIGRES]
    return [
        expressions.only_writes(_granted_writes(MULTIGRES)),
        *_common_rules(MULTIGRES, settings),
        expressions.only_managed_objects(group, secrets),
        expressions.only_metadata_of_pods(),
        *_pod_rules(),
    ]


def _tenant_rules(settings: PolicySettings) -> list[PolicyRule]:
    secrets, group = CERTIFICATE_SECRETS[TENANTS], OWN_GROUPS[TENANTS]
    leases = tuple(f"{rule.group}/{resource}" for rule in NAMESPACE_RULES for resource in rule.resources)
    namespaces = PolicyRule(expressions.only_managed_namespaces(), _NAMESPACE_MESSAGE)
    return [
        expressions.no_subresources(),
        expressions.no_privileged_kinds(PRIVILEGED_GROUPS, PRIVILEGED_RESOURCES, settings.allowed_kinds),
        *_common_rules(TENANTS, settings),
        expressions.nothing_in(settings.namespace, leases, group, secrets),
        *(_unless_cluster_wide(rule, settings) for rule in (namespaces, *_pod_rules())),
    ]


def _pod_rules() -> Iterable[PolicyRule]:
    yield PolicyRule(expressions.no_host_access(), _HOST_MESSAGE)
    for expression in expressions.no_powerful_accounts():
        yield PolicyRule(expression, _ACCOUNT_MESSAGE)


def _unless_cluster_wide(rule: PolicyRule, settings: PolicySettings) -> PolicyRule:
    """With `templateScope: cluster` templates have the operator's rights, and the owner of the cluster wants that."""
    return rule._replace(expression=f"'{settings.template_scope}' == 'cluster' || ({rule.expression})")


def _granted_writes(operator: ShippedOperator) -> tuple[str, ...]:
    """The writes that the roles grant, each as the operation and the resource."""
    found = {
        f"{_OPERATIONS[verb]} {rule.group}/{resource}"
        for rule in (*CLUSTER_RULES[operator], *NAMESPACE_RULES)
        for resource in rule.resources
        for verb in rule.verbs
        if verb in _OPERATIONS
    }
    return tuple(sorted(found))


_OPERATIONS = {"create": "CREATE", "update": "UPDATE", "patch": "UPDATE", "delete": "DELETE"}
_WEBHOOK_CONFIGURATIONS = {
    MULTIGRES: (multigres_rules.MUTATING, multigres_rules.VALIDATING),
    TENANTS: (tenant_rules.MUTATING, tenant_rules.VALIDATING),
}
_MANAGED = {
    MULTIGRES: expressions.managed_by_label(MANAGED_BY_LABEL, FIELD_MANAGER, CLUSTER_LABEL, MULTIGRES_GROUP),
    TENANTS: expressions.managed_by_any_label((TENANT, ORPHANED)),
}
_RULES = {MULTIGRES: _multigres_rules, TENANTS: _tenant_rules}
