"""Builds Mutating- and ValidatingWebhookConfigurations. Pure.

A stopped operator must never block the deletion of a namespace, so no webhook reviews requests of the garbage collector
and the namespace controller. One that never blocks while its operator is stopped may review the garbage collector.
"""

from typing import Any, Final, NamedTuple

from steward.kube.objects.kinds import Manifest

TIMEOUT_SECONDS: Final = 10
NAMESPACE_CONTROLLER: Final = "system:serviceaccount:kube-system:namespace-controller"
SYSTEM_CLEANERS: Final = (
    "system:serviceaccount:kube-system:generic-garbage-collector",
    NAMESPACE_CONTROLLER,
)
EXCEPT_SYSTEM_CLEANERS: Final = {
    "name": "exempt-the-servers-own-cleaners",
    "expression": f"!(request.userInfo.username in {list(SYSTEM_CLEANERS)})",
}
EXCEPT_NAMESPACE_DELETION: Final = {
    "name": "exempt-namespace-deletion",
    "expression": f"request.userInfo.username != '{NAMESPACE_CONTROLLER}'",
}

ClientConfig = dict[str, Any]
"""How the webhooks are reached, without a path: `{"service": …}` in a cluster, `{"url": …}` outside."""


class ReviewedResource(NamedTuple):
    """A namespaced kind whose objects are reviewed."""

    group: str
    version: str
    singular: str
    plural: str


class WebhookRule(NamedTuple):
    """One webhook: `action` is `mutate` or `validate`, and the first part of the URL path."""

    name: str
    action: str
    resource: ReviewedResource
    operations: tuple[str, ...]


def webhook(rule: WebhookRule, client_config: ClientConfig) -> Manifest:
    resource = rule.resource
    group = resource.group.replace(".", "-")
    path = "/" + "-".join(filter(None, (rule.action, group, resource.version, resource.singular)))
    return {
        "name": f"{rule.name}.kb.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client_config(client_config, path),
        "failurePolicy": "Fail",
        "matchConditions": [EXCEPT_SYSTEM_CLEANERS],
        "rules": [
            {
                "apiGroups": [resource.group],
                "apiVersions": [resource.version],
                "operations": list(rule.operations),
                "resources": [resource.plural],
                "scope": "Namespaced",
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }


def webhook_configuration(kind: str, name: str, operator: str, webhooks: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": operator}},
        "webhooks": webhooks,
    }


def _client_config(client_config: ClientConfig, path: str) -> ClientConfig:
    if "url" in client_config:
        return {**client_config, "url": client_config["url"] + path}
    return {**client_config, "service": {**client_config["service"], "path": path}}
