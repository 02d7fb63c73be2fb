"""What the API server is told to ask and to refuse on behalf of multigres: webhook configurations and a policy. Pure.

A stopped operator must never block the deletion of a namespace, so the garbage collector and the namespace controller
are asked nothing. Children are protected without a webhook, by a policy that the API server evaluates itself: creates
and changes of a spec by others are refused; annotations and deletes pass for those who have the rights, and finalizers
answer them.
"""

from typing import Any

from steward.kube.kinds import Manifest
from steward.multigres.api.group import GROUP, VERSION
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY

MUTATING = "multigres-operator-mutating-webhook-configuration"
VALIDATING = "multigres-operator-validating-webhook-configuration"
POLICY = "multigres-operator-children"
CHILD_RESOURCES = ("toposervers", "cells", "tablegroups", "shards")
TEMPLATE_RESOURCES = ("coretemplates", "celltemplates", "shardtemplates")
CLEANERS = (
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:serviceaccount:kube-system:namespace-controller",
)
NOT_A_CLEANER = {
    "name": "exempt-the-servers-own-cleaners",
    "expression": f"!(request.userInfo.username in {list(CLEANERS)})",
}
TIMEOUT_SECONDS = 10
WARNING_SECONDS = 3


def webhook_configurations(reached: dict[str, Any]) -> list[Manifest]:
    """`reached` is a clientConfig without its path: `{"service": …}` in a cluster, `{"url": …}` outside."""
    mutating = [_webhook("mmultigrescluster", "mutate", "multigrescluster", ("CREATE", "UPDATE"), reached)]
    validating = [
        _webhook("vmultigrescluster", "validate", "multigrescluster", ("CREATE", "UPDATE"), reached),
        # Only ever a warning: nobody's deletion waits for an operator that is away.
        {
            **_webhook("wmultigrescluster", "validate", "multigrescluster", ("DELETE",), reached),
            "failurePolicy": "Ignore",
            "timeoutSeconds": WARNING_SECONDS,
        },
        *(
            _webhook(f"v{plural[:-1]}", "validate", plural[:-1], ("CREATE", "UPDATE", "DELETE"), reached)
            for plural in TEMPLATE_RESOURCES
        ),
    ]
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


def _webhook(
    name: str, work: str, singular: str, operations: tuple[str, ...], reached: dict[str, Any]
) -> Manifest:
    return {
        "name": f"{name}.kb.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _at(reached, f"/{work}-{GROUP.replace('.', '-')}-{VERSION}-{singular}"),
        "failurePolicy": "Fail",
        "matchConditions": [NOT_A_CLEANER],
        "rules": [
            {
                "apiGroups": [GROUP],
                "apiVersions": [VERSION],
                "operations": list(operations),
                "resources": [f"{singular}s"],
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


def child_policy(operator: str) -> list[Manifest]:
    """The policy and its binding. `operator` is the user that Steward acts as."""
    may = [
        f"request.userInfo.username == '{operator}'",
        f"request.userInfo.username in {list(CLEANERS)}",
        "(request.operation == 'UPDATE' && object.spec == oldObject.spec)",
    ]
    told = (
        "'this object is kept by Steward: change the MultigresCluster ' + "
        "(has(object.metadata.labels) && 'multigres.com/cluster' in object.metadata.labels "
        "? object.metadata.labels['multigres.com/cluster'] : 'it belongs to') + ' instead'"
    )
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": POLICY, "labels": {MANAGED_BY: FIELD_MANAGER}},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [GROUP],
                        "apiVersions": [VERSION],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": list(CHILD_RESOURCES),
                    }
                ]
            },
            "validations": [
                {"expression": " || ".join(may), "messageExpression": told, "reason": "Forbidden"}
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": POLICY, "labels": {MANAGED_BY: FIELD_MANAGER}},
        "spec": {"policyName": POLICY, "validationActions": ["Deny"]},
    }
    return [policy, binding]
