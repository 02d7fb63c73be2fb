"""What the API server is told to ask on behalf of tenants: webhook configurations. Pure.

A stopped operator must never block the deletion of a namespace, so the garbage collector and the namespace controller
are asked nothing.
"""

from typing import Any, Final, NamedTuple

from steward.kube.kinds import Manifest
from steward.tenants.api.group import GROUP, VERSION
from steward.tenants.marks import FIELD_MANAGER

MUTATING: Final = "tenant-operator-mutating-webhook-configuration"
VALIDATING: Final = "tenant-operator-validating-webhook-configuration"
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
TIMEOUT_SECONDS: Final = 10
CLEANERS: Final = (
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:serviceaccount:kube-system:namespace-controller",
)
NOT_A_CLEANER: Final = {
    "name": "exempt-the-servers-own-cleaners",
    "expression": f"!(request.userInfo.username in {list(CLEANERS)})",
}


class _Reviewed(NamedTuple):
    singular: str
    plural: str


_KINDS: Final = (
    _Reviewed("tenantregistry", "tenantregistries"),
    _Reviewed("tenanttemplate", "tenanttemplates"),
)


def webhook_configurations(reached: dict[str, Any]) -> list[Manifest]:
    """`reached` is a clientConfig without its path: `{"service": …}` in a cluster, `{"url": …}` outside."""
    mutating = [_webhook(kind, "mutate", ("CREATE", "UPDATE"), reached) for kind in _KINDS]
    validating = [_webhook(kind, "validate", ("CREATE", "UPDATE", "DELETE"), reached) for kind in _KINDS]
    return [
        _configuration("MutatingWebhookConfiguration", MUTATING, mutating),
        _configuration("ValidatingWebhookConfiguration", VALIDATING, validating),
    ]


def _configuration(kind: str, name: str, webhooks: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": {MANAGED_BY: FIELD_MANAGER}},
        "webhooks": webhooks,
    }


def _webhook(kind: _Reviewed, work: str, operations: tuple[str, ...], reached: dict[str, Any]) -> Manifest:
    return {
        "name": f"{work[0]}{kind.singular}.kb.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _at(reached, f"/{work}-{GROUP.replace('.', '-')}-{VERSION}-{kind.singular}"),
        "failurePolicy": "Fail",
        "matchConditions": [NOT_A_CLEANER],
        "rules": [
            {
                "apiGroups": [GROUP],
                "apiVersions": [VERSION],
                "operations": list(operations),
                "resources": [kind.plural],
                "scope": "Namespaced",
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }


def _at(reached: dict[str, Any], path: str) -> dict[str, Any]:
    if "url" in reached:
        return {**reached, "url": reached["url"] + path}
    return {**reached, "service": {**reached["service"], "path": path}}
