"""What the API server is told to ask and to refuse on behalf of multigres: webhook configurations and a policy. Pure.

Children are protected without a webhook, by a policy that the API server evaluates itself: creates and changes of a
spec by others are refused; annotations and deletes pass for those who have the rights, and finalizers answer them.
"""

from steward.kube.objects.kinds import Manifest
from steward.kube.objects.webhook_configurations import (
    CLEANERS,
    ClientConfig,
    Question,
    Reviewed,
    configuration,
    webhook,
)
from steward.multigres.api.group import GROUP, VERSION
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY

MUTATING = "multigres-operator-mutating-webhook-configuration"
VALIDATING = "multigres-operator-validating-webhook-configuration"
POLICY = "multigres-operator-children"
CHILD_RESOURCES = ("toposervers", "cells", "tablegroups", "shards")
TEMPLATE_RESOURCES = ("coretemplates", "celltemplates", "shardtemplates")
WARNING_SECONDS = 3


def webhook_configurations(reached: ClientConfig) -> list[Manifest]:
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
        configuration("MutatingWebhookConfiguration", MUTATING, FIELD_MANAGER, mutating),
        configuration("ValidatingWebhookConfiguration", VALIDATING, FIELD_MANAGER, validating),
    ]


def _webhook(
    name: str, work: str, singular: str, operations: tuple[str, ...], reached: ClientConfig
) -> Manifest:
    about = Reviewed(GROUP, VERSION, singular, f"{singular}s")
    return webhook(Question(name, work, about, operations), reached)


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
