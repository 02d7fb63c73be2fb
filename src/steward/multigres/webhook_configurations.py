"""Webhook configurations, and the admission policy that protects children. Pure.

Children are protected without a webhook, by a policy that the API server evaluates itself: it denies creates and spec
changes by other users. Annotations and deletes are allowed with the usual rights; finalizers handle the deletes.
"""

from steward.kube.objects.kinds import Manifest
from steward.kube.objects.webhook_configurations import (
    EXCEPT_NAMESPACE_DELETION,
    SYSTEM_CLEANERS,
    ClientConfig,
    ReviewedResource,
    WebhookRule,
    webhook,
    webhook_configuration,
)
from steward.multigres.api.group import GROUP, VERSION
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY_LABEL

MUTATING = "multigres-operator-mutating-webhook-configuration"
VALIDATING = "multigres-operator-validating-webhook-configuration"
POLICY = "multigres-operator-children"
CHILD_RESOURCES = ("toposervers", "cells", "tablegroups", "shards")
TEMPLATE_RESOURCES = ("coretemplates", "celltemplates", "shardtemplates")
DELETION_SECONDS = 3
EVICTION_SECONDS = 5


def webhook_configurations(client_config: ClientConfig) -> list[Manifest]:
    mutating = [
        _webhook("mmultigrescluster", "mutate", "multigrescluster", ("CREATE", "UPDATE"), client_config)
    ]
    validating = [
        _webhook("vmultigrescluster", "validate", "multigrescluster", ("CREATE", "UPDATE"), client_config),
        _deletion_webhook(client_config),
        *(
            _webhook(
                f"v{plural[:-1]}", "validate", plural[:-1], ("CREATE", "UPDATE", "DELETE"), client_config
            )
            for plural in TEMPLATE_RESOURCES
        ),
        _eviction_webhook(client_config),
    ]
    return [
        webhook_configuration("MutatingWebhookConfiguration", MUTATING, FIELD_MANAGER, mutating),
        webhook_configuration("ValidatingWebhookConfiguration", VALIDATING, FIELD_MANAGER, validating),
    ]


def _deletion_webhook(client_config: ClientConfig) -> Manifest:
    """A deletion must not wait for an operator that is not running. The garbage collector is reviewed, too: it would
    delete a protected cluster with its owner."""
    found = _webhook("wmultigrescluster", "validate", "multigrescluster", ("DELETE",), client_config)
    return {
        **found,
        "failurePolicy": "Ignore",
        "matchConditions": [EXCEPT_NAMESPACE_DELETION],
        "timeoutSeconds": DELETION_SECONDS,
    }


def _eviction_webhook(client_config: ClientConfig) -> Manifest:
    """For evictions of pods of StatefulSets only. An operator that is not running must not hold up a drain."""
    resource = ReviewedResource("", "v1", "pod-eviction", "pods/eviction")
    found = webhook(WebhookRule("veviction", "validate", resource, ("CREATE",)), client_config)
    numbered = {"name": "pods-of-sets", "expression": "request.name.matches('-[0-9]+$')"}
    return {
        **found,
        "failurePolicy": "Ignore",
        "matchConditions": [*found["matchConditions"], numbered],
        "sideEffects": "NoneOnDryRun",
        "timeoutSeconds": EVICTION_SECONDS,
    }


def _webhook(
    name: str, purpose: str, singular: str, operations: tuple[str, ...], client_config: ClientConfig
) -> Manifest:
    resource = ReviewedResource(GROUP, VERSION, singular, f"{singular}s")
    return webhook(WebhookRule(name, purpose, resource, operations), client_config)


def child_policy(operator: str) -> list[Manifest]:
    """The policy and its binding. `operator` is the user that Steward acts as."""
    allowed = [
        f"request.userInfo.username == '{operator}'",
        f"request.userInfo.username in {list(SYSTEM_CLEANERS)}",
        "(request.operation == 'UPDATE' && object.spec == oldObject.spec)",
    ]
    message = (
        "'this object is managed by Steward: change the MultigresCluster ' + "
        "(has(object.metadata.labels) && 'multigres.com/cluster' in object.metadata.labels "
        "? object.metadata.labels['multigres.com/cluster'] : 'it belongs to') + ' instead'"
    )
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": POLICY, "labels": {MANAGED_BY_LABEL: FIELD_MANAGER}},
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
                {"expression": " || ".join(allowed), "messageExpression": message, "reason": "Forbidden"}
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": POLICY, "labels": {MANAGED_BY_LABEL: FIELD_MANAGER}},
        "spec": {"policyName": POLICY, "validationActions": ["Deny"]},
    }
    return [policy, binding]
