"""Specs that reach every branch of the builders of pods, for tests of the objects version."""

from typing import Any

from msgspec.json import encode

from steward.kube.objects.kinds import Manifest
from steward.multigres.objects.metadata import COMPONENT_LABEL
from tests.multigres.support.tree import of_kind

RESOURCES = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}
TOLERATIONS = [{"key": "database", "operator": "Exists"}]
PLACED = {"affinity": {"nodeAffinity": {}}, "tolerations": TOLERATIONS, "podLabels": {"team": "a"}}
SHARD = {
    "multiorch": {"replicas": 2, "resources": RESOURCES},
    "pools": {
        "main": {"replicasPerCell": 3, "postgres": RESOURCES, "multipooler": RESOURCES},
        "read": {"type": "readOnly", "replicasPerCell": 1, "cells": ["z2"], "tolerations": TOLERATIONS},
    },
    "postgresConfigRef": {"name": "settings", "key": "postgresql.conf"},
    "initdbArgs": "--data-checksums",
}
GROUPS = [
    {"name": "default", "default": True, "shards": [{"name": "0-inf", "spec": SHARD}]},
    {"name": "orders", "shards": [{"name": "0-80"}, {"name": "80-inf"}]},
]
FULL: dict[str, Any] = {
    "cells": [
        {"zone": "z1", "spec": {"multiGateway": {"replicas": 2, "resources": RESOURCES, **PLACED}}},
        {"region": "r2", "name": "z2", "spec": {"localTopoServer": {"etcd": {"replicas": 1}}}},
    ],
    "images": {"imagePullPolicy": "Always", "imagePullSecrets": [{"name": "registry"}]},
    "databases": [{"name": "postgres", "default": True, "tablegroups": GROUPS}],
    "multiadmin": {"spec": {"replicas": 2, **PLACED}},
    "backup": {"type": "s3", "s3": {"bucket": "b", "region": "r", "credentialsSecret": "keys"}},
    "observability": {
        "otlpEndpoint": "http://collector:4318",
        "otlpProtocol": "grpc",
        "metricsExporter": "otlp",
        "metricExportInterval": "15s",
        "samplingConfigRef": {"name": "sampling"},
    },
    "logLevels": {"pgctld": "debug", "multigateway": "warn"},
    "postgresPasswordSecretRef": {"name": "password", "key": "pw"},
}


def pod_templates(tree: list[Manifest]) -> dict[str, list[bytes]]:
    """The pod templates of each component as JSON."""
    templates: dict[str, list[bytes]] = {}
    for workload in [*of_kind(tree, "Deployment"), *of_kind(tree, "StatefulSet")]:
        template = workload["spec"]["template"]
        component = template["metadata"]["labels"][COMPONENT_LABEL]
        templates.setdefault(component, []).append(encode(template, order="deterministic"))
    return templates
