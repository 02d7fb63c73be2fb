"""Deployments, service accounts and disruption budgets. Containers are unprivileged and can write only to /tmp."""

from typing import Any

from steward.install.operators import (
    METRICS_PORT,
    PROBES_PORT,
    WEBHOOK_PORT,
    ShippedOperator,
    labels,
    selector,
)
from steward.install.values import Image, OperatorValues, TenantsValues, Values
from steward.kube.objects.kinds import Manifest

USER = 65532
ANNOTATIONS = {"kubectl.kubernetes.io/default-container": "operator"}
OWN_NAMESPACE = {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}

VOLUMES = ({"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}},)
VOLUME_MOUNTS = ({"name": "tmp", "mountPath": "/tmp"},)
CERTIFICATE_VOLUME = "webhook-certificate"
CERTIFICATE_MOUNT = {
    "name": CERTIFICATE_VOLUME,
    "mountPath": "/var/run/secrets/webhook",
    "readOnly": True,
}


def operator_workload(
    operator: ShippedOperator, operator_values: OperatorValues, values: Values
) -> list[Manifest]:
    return [
        service_account(operator, values, operator_values.service_account_annotations),
        deployment(operator, operator_values, values),
        disruption_budget(operator, values),
    ]


def service_account(
    operator: ShippedOperator, values: Values, annotations: dict[str, str] | None = None
) -> Manifest:
    described = metadata(operator, values)
    if annotations:
        described["annotations"] = annotations
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": described}


def disruption_budget(operator: ShippedOperator, values: Values) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(operator, values),
        # maxUnavailable, not minAvailable: with a single replica, minAvailable would block the drain of its node.
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector(operator)}},
    }


def deployment(operator: ShippedOperator, operator_values: OperatorValues, values: Values) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(operator, values),
        "spec": {
            "replicas": operator_values.replicas,
            "selector": {"matchLabels": selector(operator)},
            "template": {
                "metadata": {
                    "labels": {**operator_values.pod_labels, **labels(operator)},
                    "annotations": {**operator_values.pod_annotations, **ANNOTATIONS},
                },
                "spec": _pod_spec(operator, operator_values, values),
            },
        },
    }


def metadata(operator: ShippedOperator, values: Values) -> Manifest:
    return {"name": operator.name, "namespace": values.namespace, "labels": labels(operator)}


def _pod_spec(operator: ShippedOperator, operator_values: OperatorValues, values: Values) -> dict[str, Any]:
    return {
        "serviceAccountName": operator.name,
        **({"priorityClassName": values.priority_class_name} if values.priority_class_name else {}),
        **({"imagePullSecrets": values.image_pull_secrets} if values.image_pull_secrets else {}),
        **({"nodeSelector": operator_values.node_selector} if operator_values.node_selector else {}),
        **({"tolerations": operator_values.tolerations} if operator_values.tolerations else {}),
        **({"affinity": operator_values.affinity} if operator_values.affinity else {}),
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
        "containers": [_container(operator, operator_values, values)],
        "volumes": [*VOLUMES, *_certificate_volumes(operator_values), *operator_values.extra_volumes],
    }


def image_name(image: Image) -> str:
    return f"{image.repository}:{image.tag}" + (f"@{image.digest}" if image.digest else "")


def _container(operator: ShippedOperator, operator_values: OperatorValues, values: Values) -> dict[str, Any]:
    return {
        "name": "operator",
        "image": image_name(values.image),
        "imagePullPolicy": values.image.pull_policy,
        "args": ["run", operator.short_name, *_value_args(operator_values, values), *operator_values.args],
        "env": [OWN_NAMESPACE, *operator_values.env],
        "ports": [
            {"name": "metrics", "containerPort": METRICS_PORT},
            {"name": "probes", "containerPort": PROBES_PORT},
            {"name": "webhooks", "containerPort": WEBHOOK_PORT},
        ],
        # On a busy node Python takes longer to start than the liveness probe waits.
        "startupProbe": {**_probe("/healthz", 2), "failureThreshold": 90},
        "livenessProbe": _probe("/healthz", 15),
        "readinessProbe": _probe("/readyz", 5),
        "resources": operator_values.resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            *VOLUME_MOUNTS,
            *([CERTIFICATE_MOUNT] if operator_values.webhook_certificate_secret else []),
            *operator_values.extra_volume_mounts,
        ],
    }


def _certificate_volumes(operator_values: OperatorValues) -> list[dict[str, Any]]:
    name = operator_values.webhook_certificate_secret
    return [{"name": CERTIFICATE_VOLUME, "secret": {"secretName": name}}] if name else []


def _value_args(operator_values: OperatorValues, values: Values) -> list[str]:
    webhooks = [] if values.webhooks else ["--webhooks=off"]
    namespaces = (
        [f"--namespaces={','.join(operator_values.namespaces)}"] if operator_values.namespaces else []
    )
    return [*webhooks, *namespaces, *_tenant_args(operator_values)]


def _tenant_args(operator_values: OperatorValues) -> list[str]:
    if not isinstance(operator_values, TenantsValues):
        return []
    return [
        # Watching other namespaces would need rights in the whole cluster.
        *(["--no-cross-namespace"] if operator_values.namespaces else []),
        *(["--template-scope=cluster"] if operator_values.template_scope == "cluster" else []),
        *([f"--allow-kinds={','.join(operator_values.allow_kinds)}"] if operator_values.allow_kinds else []),
    ]


def _probe(path: str, period: int) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "probes"}, "periodSeconds": period, "timeoutSeconds": 5}
