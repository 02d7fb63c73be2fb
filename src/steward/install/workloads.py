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


PARTITION_LABEL = "kubernetes-tenants.org/partition"
"""Of the Deployments of all partitions but the first, and of their pods."""


def operator_workload(
    operator: ShippedOperator, operator_values: OperatorValues, values: Values
) -> list[Manifest]:
    main = deployment(operator, operator_values, values)
    return [
        service_account(operator, values, operator_values.service_account_annotations),
        main,
        *_partition_deployments(main, operator_values),
        disruption_budget(operator, values),
    ]


def _partition_deployments(main: Manifest, operator_values: OperatorValues) -> list[Manifest]:
    total = partition_count(operator_values)
    (container,) = main["spec"]["template"]["spec"]["containers"]
    first = shard_argument(0, total)
    return [
        partition_deployment(
            main,
            str(number),
            [shard_argument(number, total) if each == first else each for each in container["args"]],
        )
        for number in range(1, total)
    ]


def partition_count(operator_values: OperatorValues) -> int:
    return operator_values.partitions if isinstance(operator_values, TenantsValues) else 1


def shard_argument(number: int, total: int) -> str:
    return f"--shard={number}/{total}"


def partition_deployment(main: Manifest, number: str, args: Any) -> Manifest:
    """The Deployment of another partition. Its pods have the labels of the main one's: Services, policies and the
    budget are for all of them. The Deployment itself has another name, since the operator finds its own by that
    label."""
    meta, spec = main["metadata"], main["spec"]
    pod, own = spec["template"], {PARTITION_LABEL: number}
    (container,) = pod["spec"]["containers"]
    return {
        **main,
        "metadata": {
            **meta,
            "name": f"{meta['name']}-partition-{number}",
            "labels": {**meta["labels"], "app.kubernetes.io/name": f"{meta['name']}-partition", **own},
        },
        "spec": {
            **spec,
            "selector": {"matchLabels": {**spec["selector"]["matchLabels"], **own}},
            "template": {
                "metadata": {**pod["metadata"], "labels": _with_label(pod["metadata"]["labels"], own)},
                "spec": {**pod["spec"], "containers": [{**container, "args": args}]},
            },
        },
    }


def _with_label(labels: Any, own: dict[str, str]) -> Any:
    """Labels that a chart computes are not a map yet; the chart adds the label itself."""
    return {**labels, **own} if isinstance(labels, dict) else labels


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
    total = operator_values.partitions
    return [
        *([shard_argument(0, total)] if total > 1 else []),
        # Watching other namespaces would need rights in the whole cluster.
        *(["--no-cross-namespace"] if operator_values.namespaces else []),
        *(["--template-scope=cluster"] if operator_values.template_scope == "cluster" else []),
        *([f"--allow-kinds={','.join(operator_values.allow_kinds)}"] if operator_values.allow_kinds else []),
    ]


def _probe(path: str, period: int) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "probes"}, "periodSeconds": period, "timeoutSeconds": 5}
