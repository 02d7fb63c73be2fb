"""The page in a cluster: a Deployment without rights and without a service account token, its Service and its policy.

The container knows the address of the API server and its certificate authority, nothing else: every request to the API
server carries the token of a reader.
"""

from typing import Any

from msgspec.structs import replace

from steward.install.operators import ShippedOperator, labels, selector
from steward.install.values import PageValues, Values
from steward.install.workloads import USER, VOLUME_MOUNTS, VOLUMES, image_name
from steward.kube.objects.kinds import Manifest

PAGE = ShippedOperator("page", "steward-page")
PORT = 8443
AUTHORITY_VOLUME = {"name": "api-server-ca", "configMap": {"name": "kube-root-ca.crt"}}
AUTHORITY_MOUNT = {
    "name": "api-server-ca",
    "mountPath": "/var/run/steward/api-server",
    "readOnly": True,
}
CERTIFICATE_VOLUME = "certificate"
CERTIFICATE_MOUNT = {
    "name": CERTIFICATE_VOLUME,
    "mountPath": "/var/run/steward/certificate",
    "readOnly": True,
}
FIXED_ARGS = ["page", "serve", f"--listen=:{PORT}", "--api-server-ca=/var/run/steward/api-server/ca.crt"]
CERTIFICATE_ARGS = [
    "--certificate=/var/run/steward/certificate/tls.crt",
    "--key=/var/run/steward/certificate/tls.key",
]


def page_manifests(values: Values) -> list[Manifest]:
    if not values.page.enabled:
        return []
    return [
        *page_workload(values.page, values),
        *([page_network_policy(values)] if values.network_policy else []),
    ]


def with_page(values: Values) -> Values:
    return replace(values, page=replace(values.page, enabled=True))


def page_workload(page: PageValues, values: Values) -> list[Manifest]:
    return [_service_account(values), _deployment(page, values), _service(values)]


def _metadata(values: Values) -> dict[str, Any]:
    return {"name": PAGE.name, "namespace": values.namespace, "labels": page_labels()}


def page_labels() -> dict[str, str]:
    return {**labels(PAGE), "app.kubernetes.io/component": "page"}


def page_selector() -> dict[str, str]:
    return {**selector(PAGE), "app.kubernetes.io/component": "page"}


def _service_account(values: Values) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _metadata(values),
        "automountServiceAccountToken": False,
    }


def _service(values: Values) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(values),
        "spec": {
            "selector": page_selector(),
            "ports": [{"name": "https", "port": 443, "targetPort": "page", "protocol": "TCP"}],
        },
    }


def page_network_policy(values: Values) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(values),
        "spec": {
            "podSelector": {"matchLabels": page_selector()},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [{"port": PORT, "protocol": "TCP"}]}],
        },
    }


def _deployment(page: PageValues, values: Values) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(values),
        "spec": {
            # One: sessions are kept in the memory of the process.
            "replicas": 1,
            "selector": {"matchLabels": page_selector()},
            "template": {"metadata": {"labels": page_labels()}, "spec": _pod_spec(page, values)},
        },
    }


def _pod_spec(page: PageValues, values: Values) -> dict[str, Any]:
    certificate = {"name": CERTIFICATE_VOLUME, "secret": {"secretName": page.certificate_secret}}
    return {
        "serviceAccountName": PAGE.name,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        **({"imagePullSecrets": values.image_pull_secrets} if values.image_pull_secrets else {}),
        **({"nodeSelector": page.node_selector} if page.node_selector else {}),
        **({"tolerations": page.tolerations} if page.tolerations else {}),
        **({"affinity": page.affinity} if page.affinity else {}),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": 10,
        "containers": [_container(page, values)],
        "volumes": [*VOLUMES, AUTHORITY_VOLUME, *([certificate] if page.certificate_secret else [])],
    }


def _container(page: PageValues, values: Values) -> dict[str, Any]:
    return {
        "name": "page",
        "image": image_name(values.image),
        "imagePullPolicy": values.image.pull_policy,
        "args": [
            *FIXED_ARGS,
            *(CERTIFICATE_ARGS if page.certificate_secret else []),
            *([f"--public-url={page.public_url}"] if page.public_url else []),
            *(["--actions"] if page.actions else []),
        ],
        "ports": [{"name": "page", "containerPort": PORT}],
        "startupProbe": {**_probe(2), "failureThreshold": 60},
        "livenessProbe": _probe(15),
        "readinessProbe": _probe(5),
        "resources": page.resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            *VOLUME_MOUNTS,
            AUTHORITY_MOUNT,
            *([CERTIFICATE_MOUNT] if page.certificate_secret else []),
        ],
    }


def _probe(seconds: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": "/healthz", "port": "page", "scheme": "HTTPS"},
        "periodSeconds": seconds,
        "timeoutSeconds": 5,
    }
