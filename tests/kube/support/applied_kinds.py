"""One manifest of every kind that an operator applies, in notations that the server does not return.

Unusual quantities, omitted defaults, maps, sets, keyed and atomic lists, references, projected volumes.
"""

import copy
from typing import Any

from tests.kube.support.widgets import WIDGET

Manifest = dict[str, Any]

LABELS = {"app.kubernetes.io/name": "sample", "app.kubernetes.io/managed-by": "steward-test"}
SELECTOR = {"app.kubernetes.io/name": "sample"}

POD_SPEC: Manifest = {
    "serviceAccountName": "default",
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "fsGroup": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "nodeSelector": {"topology.kubernetes.io/zone": "z1"},
    "tolerations": [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 10,
                    "podAffinityTerm": {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": {"matchLabels": SELECTOR},
                    },
                }
            ]
        }
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": SELECTOR},
        }
    ],
    "imagePullSecrets": [{"name": "pull"}],
    "initContainers": [
        {
            "name": "copy",
            "image": "busybox:1",
            "command": ["sh", "-c", "true"],
            "volumeMounts": [{"name": "scratch", "mountPath": "/s"}],
        },
        {"name": "sidecar", "image": "busybox:1", "restartPolicy": "Always", "args": []},
    ],
    "containers": [
        {
            "name": "main",
            "image": "postgres:17",
            "args": ["--port=5432", "--verbose"],
            "env": [
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "password"}}},
                {
                    "name": "MODE",
                    "valueFrom": {"configMapKeyRef": {"name": "c", "key": "mode", "optional": True}},
                },
                {"name": "EMPTY", "value": ""},
                {"name": "PLAIN", "value": "1"},
            ],
            "ports": [
                {"name": "pg", "containerPort": 5432},
                {"name": "metrics", "containerPort": 9187, "protocol": "TCP"},
            ],
            "resources": {
                "requests": {"cpu": "0.5", "memory": "1024Mi", "ephemeral-storage": "1000000k"},
                "limits": {"cpu": 2, "memory": "1.5Gi", "ephemeral-storage": "2e9"},
            },
            "readinessProbe": {"tcpSocket": {"port": "pg"}, "periodSeconds": 5},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": 9187}, "initialDelaySeconds": 0},
            "lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}},
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            "volumeMounts": [
                {"name": "scratch", "mountPath": "/scratch"},
                {"name": "all", "mountPath": "/etc/all", "readOnly": False},
            ],
        }
    ],
    "volumes": [
        {"name": "scratch", "emptyDir": {"sizeLimit": "1024Mi"}},
        {"name": "plain", "emptyDir": {}},
        {"name": "conf", "configMap": {"name": "c", "items": [{"key": "mode", "path": "mode"}]}},
        {"name": "sec", "secret": {"secretName": "s", "defaultMode": 256}},
        {
            "name": "all",
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "token"}},
                    {"secret": {"name": "s", "items": [{"key": "password", "path": "p"}]}},
                    {
                        "downwardAPI": {
                            "items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]
                        }
                    },
                    {"configMap": {"name": "c"}},
                ]
            },
        },
    ],
}


def template(**spec: Any) -> Manifest:
    return {
        "metadata": {"labels": dict(LABELS), "annotations": {"checksum": "abc"}, "creationTimestamp": None},
        "spec": {**copy.deepcopy(POD_SPEC), **spec},
    }


MANIFESTS: dict[str, Manifest] = {
    "Deployment": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": SELECTOR},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
            "minReadySeconds": 0,
            "template": template(),
        },
    },
    "StatefulSet": {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "spec": {
            "replicas": 0,
            "serviceName": "sample",
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
            "selector": {"matchLabels": SELECTOR},
            "template": template(),
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "data", "labels": dict(LABELS)},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "0.5Gi"}},
                    },
                }
            ],
        },
    },
    "DaemonSet": {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "spec": {
            "selector": {"matchLabels": SELECTOR},
            "template": template(nodeSelector={"none": "such"}),
        },
    },
    "Service": {
        "apiVersion": "v1",
        "kind": "Service",
        "spec": {
            "selector": SELECTOR,
            "publishNotReadyAddresses": True,
            "ports": [
                {"name": "http", "port": 80, "targetPort": "pg"},
                {"name": "metrics", "port": 9187, "protocol": "TCP", "targetPort": 9187},
                {"name": "dns", "port": 80, "protocol": "UDP"},
            ],
        },
    },
    "HeadlessService": {
        "apiVersion": "v1",
        "kind": "Service",
        "spec": {"clusterIP": "None", "selector": SELECTOR, "ports": [{"port": 5432}]},
    },
    "ConfigMap": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"mode": "a", "empty": ""},
        "binaryData": {"b": "aGVsbG8="},
    },
    "Secret": {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "data": {"k": "aGVs\nbG8="},
        "stringData": {"password": "p"},
    },
    "ServiceAccount": {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "automountServiceAccountToken": False,
        "imagePullSecrets": [{"name": "pull"}],
    },
    "PersistentVolumeClaim": {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}},
    },
    "PodDisruptionBudget": {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": SELECTOR}},
    },
    "NetworkPolicy": {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "spec": {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                {
                    "from": [{"podSelector": {"matchLabels": SELECTOR}}],
                    "ports": [{"port": 5432}, {"port": "pg", "protocol": "UDP"}],
                }
            ],
            "egress": [{}],
        },
    },
    "HorizontalPodAutoscaler": {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "sample"},
            "maxReplicas": 5,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
                },
                {
                    "type": "Resource",
                    "resource": {
                        "name": "memory",
                        "target": {"type": "AverageValue", "averageValue": "1024Mi"},
                    },
                },
                {
                    "type": "External",
                    "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "1000m"}},
                },
            ],
            "behavior": {"scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}},
        },
    },
    "Job": {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {
            "suspend": True,
            "backoffLimit": 0,
            "template": {
                "metadata": {"labels": dict(LABELS)},
                "spec": {**copy.deepcopy(POD_SPEC), "restartPolicy": "Never"},
            },
        },
    },
    "CronJob": {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "spec": {
            "schedule": "0 3 * * *",
            "timeZone": "Etc/UTC",
            "suspend": False,
            "jobTemplate": {
                "spec": {"template": {"spec": {**copy.deepcopy(POD_SPEC), "restartPolicy": "Never"}}}
            },
        },
    },
    "Ingress": {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "spec": {
            "ingressClassName": "nginx",
            "tls": [{"hosts": ["a.example"], "secretName": "tls"}],
            "rules": [
                {
                    "host": "a.example",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "sample", "port": {"number": 80}}},
                            }
                        ]
                    },
                }
            ],
        },
    },
    "Role": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "rules": [
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"], "resourceNames": ["a"]}
        ],
    },
    "RoleBinding": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "roleRef": {"kind": "Role", "name": "sample", "apiGroup": "rbac.authorization.k8s.io"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "default", "namespace": "default"},
            {"kind": "User", "name": "u"},
        ],
    },
    "Widget": {
        "apiVersion": WIDGET.api_version,
        "kind": WIDGET.kind,
        "spec": {
            "size": 3,
            "text": "",
            "on": False,
            "tags": ["b", "a"],
            "cells": [{"name": "z1"}, {"name": "z2", "weight": 5}],
            "parts": [{"name": "x", "resources": {"limits": {"cpu": "1000m"}}}, {"name": "y", "ports": []}],
            "whole": {"a": "1", "b": {"c": [1, 2]}},
            "free": {"anything": {"deep": [1, {"x": "y"}]}, "none": {}, "number": 1.0},
            "labels": {"one": "1"},
            "emptyList": [],
            "emptyMap": {},
        },
    },
}


def manifest_of(name: str, namespace: str, owner: Manifest | None = None) -> Manifest:
    """A fresh manifest of the kind, labelled, and owned when there is an owner."""
    manifest = copy.deepcopy(MANIFESTS[name])
    metadata: Manifest = {
        "name": f"sample-{name.lower()}",
        "namespace": namespace,
        "labels": dict(LABELS),
        "annotations": {"steward.test/note": "applied"},
    }
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    return {**manifest, "metadata": metadata}
