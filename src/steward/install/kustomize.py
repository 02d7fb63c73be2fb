"""Generates the kustomize files in `config/`: one directory for each concern, and `default` for all."""

from pathlib import Path

import yaml

from steward.install import manifests
from steward.install.argocd import argocd_health
from steward.install.monitoring import DASHBOARDS, RULES, generated_files
from steward.install.network import network_policy
from steward.install.operators import OPERATORS
from steward.install.page import page_network_policy, page_workload
from steward.install.rbac import databases_for_tenants, metrics_reader
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest

NOTE = "# Made by `make generate` from src/steward/install: edit there.\n"


def kustomize_files(root: Path) -> dict[str, str]:
    """Files by path below `config/`, without the CRDs, which the API packages write."""
    sections = _sections(Values())
    files = {
        f"{name}/{file}": _dump_objects(found)
        for name, made in sections.items()
        for file, found in made.items()
    }
    listed = {f"{name}/kustomization.yaml": _kustomization(sorted(made)) for name, made in sections.items()}
    monitoring = {f"monitoring/{name}": _dump_objects(found) for name, found in generated_files(root).items()}
    return {
        **files,
        **listed,
        **monitoring,
        "monitoring/kustomization.yaml": _monitoring_kustomization(),
        "argocd/argocd-cm.yaml": argocd_health(),
        "crd/kustomization.yaml": _kustomization(_crd_files()),
        "default/kustomization.yaml": _kustomization(
            ["../crd", "../rbac", "../policy", "../manager", "../webhook"]
        ),
    }


def _sections(values: Values) -> dict[str, dict[str, list[Manifest]]]:
    """Objects by directory and file."""
    return {
        "rbac": {
            "metrics-reader.yaml": [metrics_reader()],
            "databases-for-tenants.yaml": [databases_for_tenants()],
            **{f"{operator.short_name}.yaml": manifests.rbac(operator, values) for operator in OPERATORS},
        },
        "policy": {
            f"{operator.short_name}.yaml": manifests.policy(operator, values) for operator in OPERATORS
        },
        "manager": {
            "namespace.yaml": [manifests.namespace(values)],
            **{
                f"{operator.short_name}.yaml": [
                    *manifests.core(operator, values),
                    network_policy(operator, values),
                ]
                for operator in OPERATORS
            },
        },
        # Not in `default`: it is off unless a user wants it.
        "page": {"page.yaml": [*page_workload(values.page, values), page_network_policy(values)]},
        "webhook": {
            f"{operator.short_name}.yaml": manifests.webhooks(operator, values) for operator in OPERATORS
        },
    }


def _monitoring_kustomization() -> str:
    """Needs the kinds of the Prometheus operator and, for dashboards, the sidecar of Grafana."""
    monitors = ["service-monitor.yaml", "tenants-service-monitor.yaml", "pod-monitors.yaml"]
    content = yaml.safe_load(_kustomization([*monitors, *RULES.values(), *DASHBOARDS.values()]))
    return NOTE + yaml.safe_dump({**content, "namespace": Values().namespace}, sort_keys=False)


def _crd_files() -> list[str]:
    return sorted(
        f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml"
        for operator in OPERATORS
        for crd in manifests.crds(operator)
    )


def _dump_objects(found: list[Manifest]) -> str:
    texts = [yaml.safe_dump(manifest, sort_keys=False, width=110, allow_unicode=True) for manifest in found]
    return NOTE + "---\n".join(texts)


def _kustomization(resources: list[str]) -> str:
    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources,
    }
    return NOTE + yaml.safe_dump(content, sort_keys=False)
