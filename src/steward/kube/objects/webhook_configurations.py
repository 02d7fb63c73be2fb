"""Webhook configurations: what the API server is told to ask an operator. Pure.

A stopped operator must never block the deletion of a namespace, so the garbage collector and the namespace controller
are asked nothing, whatever the webhook.
"""

from typing import Any, Final, NamedTuple

from steward.kube.objects.kinds import Manifest

TIMEOUT_SECONDS: Final = 10
CLEANERS: Final = (
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:serviceaccount:kube-system:namespace-controller",
)
NOT_A_CLEANER: Final = {
    "name": "exempt-the-servers-own-cleaners",
    "expression": f"!(request.userInfo.username in {list(CLEANERS)})",
}

ClientConfig = dict[str, Any]
"""How the webhooks are reached, without a path: `{"service": …}` in a cluster, `{"url": …}` outside."""


class Reviewed(NamedTuple):
    """A namespaced kind whose objects are reviewed."""

    group: str
    version: str
    singular: str
    plural: str


class Question(NamedTuple):
    """What is asked: `work` is `mutate` or `validate`, and the first part of the path where the answer is."""

    name: str
    work: str
    about: Reviewed
    operations: tuple[str, ...]


def webhook(question: Question, reached: ClientConfig) -> Manifest:
    about = question.about
    path = f"/{question.work}-{about.group.replace('.', '-')}-{about.version}-{about.singular}"
    return {
        "name": f"{question.name}.kb.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _at(reached, path),
        "failurePolicy": "Fail",
        "matchConditions": [NOT_A_CLEANER],
        "rules": [
            {
                "apiGroups": [about.group],
                "apiVersions": [about.version],
                "operations": list(question.operations),
                "resources": [about.plural],
                "scope": "Namespaced",
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }


def configuration(kind: str, name: str, operator: str, webhooks: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": operator}},
        "webhooks": webhooks,
    }


def _at(reached: ClientConfig, path: str) -> ClientConfig:
    if "url" in reached:
        return {**reached, "url": reached["url"] + path}
    return {**reached, "service": {**reached["service"], "path": path}}
