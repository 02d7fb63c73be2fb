"""The rules of the admission policies, in CEL: what a write of an operator must satisfy.

`object`, `oldObject` and `request` are those of the API server; `object` is null for a DELETE, and a field without a
value is absent. An expression that fails to evaluate denies the request, so every optional field is tested first.
"""

import json
from typing import Final, NamedTuple

from steward.tenants.objects.pod_security import SAFE_CAPABILITIES, SAFE_SELINUX_TYPES


class PolicyRule(NamedTuple):
    """An expression that is true for every permitted write, and the message for all others."""

    expression: str
    message: str


class Variable(NamedTuple):
    """A value that several expressions read as `variables.<name>`; it is evaluated when it is first read."""

    name: str
    expression: str


WEBHOOK_GROUP: Final = "admissionregistration.k8s.io"
TOKEN_SECRETS: Final = ("kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token")
_WORKLOADS: Final = (
    "/replicationcontrollers",
    "apps/daemonsets",
    "apps/deployments",
    "apps/replicasets",
    "apps/statefulsets",
    "batch/jobs",
)
_WEBHOOK_FIELDS: Final = (
    "rules",
    "failurePolicy",
    "matchPolicy",
    "namespaceSelector",
    "objectSelector",
    "matchConditions",
    "reinvocationPolicy",
    "sideEffects",
    "timeoutSeconds",
    "admissionReviewVersions",
)
_CLUSTER_RIGHTS: Final = (
    ("", "secrets", "list"),
    ("", "pods", "create"),
    ("", "users", "impersonate"),
    ("rbac.authorization.k8s.io", "clusterrolebindings", "create"),
    (WEBHOOK_GROUP, "mutatingwebhookconfigurations", "create"),
)
"""An account with one of these rights in the whole cluster can take it over."""


def _pod_specs(found: str) -> str:
    """The pod spec of an object, as a list of one or none."""
    return (
        f"{found} == null ? [] : variables.resource == '/pods' ? [{found}.spec] "
        f": variables.resource == 'batch/cronjobs' ? [{found}.spec.jobTemplate.spec.template.spec] "
        f": variables.resource in {list(_WORKLOADS)} ? [{found}.spec.template.spec] : []"
    )


VARIABLES: Final = (
    Variable(
        "resource",
        "request.resource.group + '/' + request.resource.resource + "
        "(has(request.subResource) && request.subResource != '' ? '/' + request.subResource : '')",
    ),
    Variable("live", "object == null ? oldObject : object"),
    # A Namespace is in no namespace, and its name is not set yet if the server is to generate it.
    Variable(
        "target",
        "variables.resource.startsWith('/namespaces') ? variables.live.metadata.?name.orValue("
        "variables.live.metadata.?generateName.orValue('')) "
        ": has(request.namespace) ? request.namespace : ''",
    ),
    Variable("newPods", _pod_specs("object")),
    Variable("oldPods", _pod_specs("oldObject")),
    # What was applied before the policy existed can be labelled, and released by its owner.
    Variable("pods", "variables.newPods == variables.oldPods ? [] : variables.newPods"),
    Variable(
        "containers",
        "variables.pods.size() == 0 ? [] "
        ": variables.pods[0].containers + variables.pods[0].?initContainers.orValue([])",
    ),
    Variable("accounts", "variables.pods.map(pod, pod.?serviceAccountName.orValue('default'))"),
)


def managed_by_label(label: str, value: str, tracking_label: str, own_group: str) -> Variable:
    """Whether an existing object has the label with this value, the tracking label, or an owner of the group. A pod
    that lost the first label has the second: its owner is a StatefulSet."""
    return Variable(
        "managed",
        f"oldObject != null && (oldObject.metadata.?labels[?'{label}'].orValue('') == '{value}' || "
        f"'{tracking_label}' in oldObject.metadata.?labels.orValue({{}}) || "
        "oldObject.metadata.?ownerReferences.orValue([])"
        f".exists(owner, owner.apiVersion.startsWith('{own_group}/')))",
    )


def managed_by_any_label(labels: tuple[str, ...]) -> Variable:
    """Whether an existing object has one of the labels."""
    found = " || ".join(f"'{label}' in oldObject.metadata.?labels.orValue({{}})" for label in labels)
    return Variable("managed", f"oldObject != null && ({found})")


_REMOVES_ITS_OWN: Final = "request.operation == 'DELETE' && variables.managed"
"""What an earlier version wrote in a namespace that is closed now can be deleted; nothing can be labelled there."""


def outside_system_namespaces(own_group: str) -> PolicyRule:
    """The operator's own kinds are excepted, so that a status can say why nothing else is written."""
    return PolicyRule(
        f"!variables.target.startsWith('kube-') || request.resource.group == '{own_group}' || {_REMOVES_ITS_OWN}",
        "Steward writes nothing in namespaces whose names begin with kube-; choose another namespace",
    )


def no_token_secrets() -> PolicyRule:
    return PolicyRule(
        "variables.resource != '/secrets' || [object, oldObject].all(secret, "
        f"secret == null || !(secret.?type.orValue('') in {list(TOKEN_SECRETS)}))",
        "Steward writes no Secrets with tokens of service accounts or bootstrap tokens; name another type",
    )


def only_the_bundle_of(names: tuple[str, ...], allowed: str = "[]") -> PolicyRule:
    """A webhook with other rules or another address would read and change every object of the cluster.

    `allowed` is a CEL list of kinds that templates may hold nevertheless."""
    same = " && ".join(f"old.?{field} == new.?{field}" for field in _WEBHOOK_FIELDS)
    address = " && ".join(
        f"old.clientConfig.?{field} == new.clientConfig.?{field}" for field in ("service", "url")
    )
    return PolicyRule(
        f"request.resource.group != '{WEBHOOK_GROUP}' || request.kind.kind in {allowed} || "
        "(request.operation == 'UPDATE' && "
        f"object.metadata.name in {list(names)} && "
        "object.?webhooks.orValue([]).size() == oldObject.?webhooks.orValue([]).size() && "
        "object.?webhooks.orValue([]).all(new, oldObject.webhooks.exists(old, old.name == new.name && "
        f"{same} && {address})))",
        "an operator changes only the CA bundle of its own webhook configurations",
    )


def only_writes(writes: tuple[str, ...]) -> PolicyRule:
    return PolicyRule(
        f"request.operation + ' ' + variables.resource in {list(writes)}",
        "the operator does not need this right",
    )


def no_subresources() -> PolicyRule:
    """Such as serviceaccounts/token, pods/exec, pods/ephemeralcontainers and nodes/proxy."""
    return PolicyRule(
        "!has(request.subResource) || request.subResource in ['', 'status']",
        "the operator writes objects and their status, and no other subresource",
    )


def no_privileged_kinds(groups: tuple[str, ...], resources: tuple[str, ...], allowed: str) -> PolicyRule:
    """`allowed` is a CEL list of kinds."""
    return PolicyRule(
        f"!(request.resource.group in {list(groups)} || variables.resource in {list(resources)}) || "
        f"request.resource.group == '{WEBHOOK_GROUP}' && request.kind.kind.endsWith('WebhookConfiguration') || "
        f"request.kind.kind in {allowed}",
        "templates write no kind that grants rights or changes the API server, unless tenants.allowKinds of the "
        "installation names it",
    )


def only_managed_namespaces() -> str:
    """An expression: existing Namespaces are changed and deleted only if a Tenant has created them."""
    return "variables.resource != '/namespaces' || oldObject == null || variables.managed"


def nothing_in(
    namespace: str, resources: tuple[str, ...], own_group: str, secrets: tuple[str, ...]
) -> PolicyRule:
    """In the operators' namespace: certificates, leases and the operator's own kinds only."""
    return PolicyRule(
        f"variables.target != '{namespace}' || request.resource.group == '{own_group}' || {_REMOVES_ITS_OWN} || "
        f"variables.resource in {list(resources)} || "
        f"variables.resource == '/secrets' && variables.live.metadata.?name.orValue('') in {list(secrets)}",
        "templates write nothing in the operators' namespace; choose another namespace",
    )


def no_account_of(namespace: str, accounts: tuple[str, ...]) -> PolicyRule:
    return PolicyRule(
        f"variables.target != '{namespace}' || variables.accounts.all(account, !(account in {list(accounts)}))",
        "pods may not run as the operators' own service accounts",
    )


def no_host_access() -> str:
    """An expression: pods have no access to their node, and no more privilege than Pod Security `baseline` allows."""
    pod = (
        "['hostNetwork', 'hostPID', 'hostIPC'].all(field, !(field in pod) || pod[field] == false) && "
        f"pod.?volumes.orValue([]).all(volume, !has(volume.hostPath)) && {_confined('pod')}"
    )
    container = (
        "container.?securityContext.?privileged.orValue(false) == false && "
        "container.?securityContext.?procMount.orValue('Default') == 'Default' && "
        "container.?securityContext.?capabilities.?add.orValue([]).all(name, "
        f"name in {sorted(SAFE_CAPABILITIES)}) && {_confined('container')}"
    )
    return f"variables.pods.all(pod, {pod}) && variables.containers.all(container, {container})"


def _confined(found: str) -> str:
    """What pods and containers have in common."""
    context = f"{found}.?securityContext"
    return (
        f"{context}.?windowsOptions.?hostProcess.orValue(false) == false && "
        f"{context}.?seccompProfile.?type.orValue('') != 'Unconfined' && "
        f"{context}.?appArmorProfile.?type.orValue('') != 'Unconfined' && "
        f"{context}.?seLinuxOptions.?type.orValue('') in {sorted(SAFE_SELINUX_TYPES)}"
    )


def no_powerful_accounts() -> tuple[str, ...]:
    """Expressions: pods run as no account that has such rights in the whole cluster.

    One check an expression: the API server counts a check as a third of what an expression may cost."""
    return tuple(
        "variables.accounts.all(account, !authorizer.serviceAccount(variables.target, account)"
        f".group('{group}').resource('{resource}').check('{verb}').allowed())"
        for group, resource, verb in _CLUSTER_RIGHTS
    )


def only_managed_objects(own_group: str, secrets: tuple[str, ...]) -> PolicyRule:
    """Existing objects are changed and deleted only if the operator manages them; its certificates have no label."""
    certificates = f"variables.resource == '/secrets' && oldObject.metadata.name in {list(secrets)}"
    groups = [own_group, "coordination.k8s.io", WEBHOOK_GROUP]
    return PolicyRule(
        f"oldObject == null || request.resource.group in {groups} || variables.managed || {certificates}",
        "the operator changes and deletes only objects that it manages",
    )


def only_metadata_of_pods() -> PolicyRule:
    """The image of a running container could be changed otherwise."""
    return PolicyRule(
        "variables.resource != '/pods' || object == null || oldObject == null || object.spec == oldObject.spec",
        "the operator changes labels and annotations of pods, and nothing else",
    )


def list_literal(values: list[str]) -> str:
    return json.dumps(values, separators=(",", ":"))
