"""The Deployments: two replicas of one image each, with no right on their node and nothing to write but /tmp."""

from typing import Any

from steward.install.operators import METRICS_PORT, PROBES_PORT, WEBHOOK_PORT, Shipped, labels, selector
from steward.install.values import OperatorValues, Values
from steward.kube.objects.kinds import Manifest

USER = 65532
OWN_NAMESPACE = {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}


def workload(operator: Shipped, chosen: OperatorValues, values: Values) -> list[Manifest]:
    return [
        service_account(operator, values),
        deployment(operator, chosen, values),
        disruption_budget(operator, values),
    ]


def service_account(operator: Shipped, values: Values) -> Manifest:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(operator, values)}


def disruption_budget(operator: Shipped, values: Values) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(operator, values),
        # One may always go: a budget that never allows it would block the drain of a node for a single replica.
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector(operator)}},
    }


def deployment(operator: Shipped, chosen: OperatorValues, values: Values) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(operator, values),
        "spec": {
            "replicas": chosen.replicas,
            "selector": {"matchLabels": selector(operator)},
            "template": {
                "metadata": {
                    "labels": labels(operator),
                    "annotations": {"kubectl.kubernetes.io/default-container": "operator"},
                },
                "spec": _pod(operator, chosen, values),
            },
        },
    }


def metadata(operator: Shipped, values: Values) -> Manifest:
    return {"name": operator.name, "namespace": values.namespace, "labels": labels(operator)}


def _pod(operator: Shipped, chosen: OperatorValues, values: Values) -> dict[str, Any]:
    return {
        "serviceAccountName": operator.name,
        **({"priorityClassName": values.priority_class_name} if values.priority_class_name else {}),
        **({"imagePullSecrets": values.image_pull_secrets} if values.image_pull_secrets else {}),
        **({"nodeSelector": chosen.node_selector} if chosen.node_selector else {}),
        **({"tolerations": chosen.tolerations} if chosen.tolerations else {}),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": selector(operator)},
            }
        ],
        "terminationGracePeriodSeconds": 30,
        "containers": [_container(operator, chosen, values)],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}}],
    }


def _container(operator: Shipped, chosen: OperatorValues, values: Values) -> dict[str, Any]:
    image = values.image
    return {
        "name": "operator",
        "image": f"{image.repository}:{image.tag}",
        "imagePullPolicy": image.pull_policy,
        "args": ["run", operator.word, *_webhook_args(values), *chosen.args],
        "env": [OWN_NAMESPACE, *chosen.env],
        "ports": [
            {"name": "metrics", "containerPort": METRICS_PORT},
            {"name": "probes", "containerPort": PROBES_PORT},
            {"name": "webhooks", "containerPort": WEBHOOK_PORT},
        ],
        "livenessProbe": _probe("/healthz", 15),
        "readinessProbe": _probe("/readyz", 5),
        "resources": chosen.resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }


def _webhook_args(values: Values) -> list[str]:
    return [] if values.webhooks else ["--webhooks=off"]


def _probe(path: str, period: int) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "probes"}, "periodSeconds": period, "timeoutSeconds": 5}
