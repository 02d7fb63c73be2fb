"""The kustomize files in `config/`: one directory a concern, `default` for all of it."""

from pathlib import Path

import yaml

from steward.install import manifests
from steward.install.monitoring import DASHBOARDS, RULES, made_files
from steward.install.network import network_policy
from steward.install.operators import SHIPPED
from steward.install.rbac import databases_for_tenants, metrics_reader
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest

NOTE = "# Made by `make generate` from src/steward/install: edit there.\n"


def kustomize_files(root: Path) -> dict[str, str]:
    """By their path below `config/`. The definitions themselves are written by the two APIs."""
    values = Values()
    sections: dict[str, dict[str, list[Manifest]]] = {
        "rbac": {
            "metrics-reader.yaml": [metrics_reader()],
            "databases-for-tenants.yaml": [databases_for_tenants()],
            **{f"{operator.word}.yaml": manifests.rbac(operator, values) for operator in SHIPPED},
        },
        "manager": {
            "namespace.yaml": [manifests.namespace(values)],
            **{
                f"{operator.word}.yaml": [
                    *manifests.core(operator, values),
                    network_policy(operator, values),
                ]
                for operator in SHIPPED
            },
        },
        "webhook": {f"{operator.word}.yaml": manifests.webhooks(operator, values) for operator in SHIPPED},
    }
    files = {
        f"{name}/{file}": _objects(found) for name, made in sections.items() for file, found in made.items()
    }
    listed = {f"{name}/kustomization.yaml": _listing(sorted(made)) for name, made in sections.items()}
    monitoring = {f"monitoring/{name}": _objects(found) for name, found in made_files(root).items()}
    return {
        **files,
        **listed,
        **monitoring,
        "monitoring/kustomization.yaml": _monitoring(),
        "crd/kustomization.yaml": _listing(_definitions()),
        "default/kustomization.yaml": _listing(["../crd", "../rbac", "../manager", "../webhook"]),
    }


def _monitoring() -> str:
    """Needs the Prometheus operator's kinds and, for the dashboards, Grafana with its sidecar."""
    monitors = ["service-monitor.yaml", "tenants-service-monitor.yaml"]
    content = yaml.safe_load(_listing([*monitors, *RULES.values(), *DASHBOARDS.values()]))
    return NOTE + yaml.safe_dump({**content, "namespace": Values().namespace}, sort_keys=False)


def _definitions() -> list[str]:
    return sorted(
        f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml"
        for operator in SHIPPED
        for crd in manifests.crds(operator)
    )


def _objects(found: list[Manifest]) -> str:
    texts = [yaml.safe_dump(manifest, sort_keys=False, width=110, allow_unicode=True) for manifest in found]
    return NOTE + "---\n".join(texts)


def _listing(resources: list[str]) -> str:
    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources,
    }
    return NOTE + yaml.safe_dump(content, sort_keys=False)
