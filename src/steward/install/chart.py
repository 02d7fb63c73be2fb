"""Generates the templates of the Helm chart with the functions that make the manifests of `steward install`.

The functions get tokens as values; in the output, the tokens are replaced by Helm expressions. So the chart has every
object and field that `steward install` has.
"""

import json
import re
from typing import Any, cast

import yaml

from steward.install import manifests
from steward.install.monitoring import DASHBOARDS, RULES
from steward.install.network import network_policy, service_monitor
from steward.install.operators import OPERATORS, ShippedOperator
from steward.install.rbac import databases_for_tenants, metrics_reader
from steward.install.values import Image, OperatorValues, Values
from steward.install.workloads import OWN_NAMESPACE
from steward.kube.objects.kinds import Manifest

NOTE = "# Made by `make generate` from src/steward/install: edit there.\n"


class HelmTokens:
    """Tokens that stand for Helm expressions. The line of an optional token is omitted when its value is empty."""

    def __init__(self) -> None:
        self._expressions: list[str] = []

    def value(self, path: str) -> Any:
        return self.expression(f"{{{{ {path} }}}}")

    def json(self, expression: str) -> Any:
        return self.expression(f"{{{{ toJson {expression} }}}}")

    def expression(self, text: str) -> Any:
        self._expressions.append(text)
        return f"HelmToken{len(self._expressions) - 1}x"

    def optional(self, path: str) -> Any:
        self._expressions.append(path)
        return f"HelmOptional{len(self._expressions) - 1}x"

    def substitute(self, text: str) -> str:
        whole_lines = re.sub(
            r"^( *)(\w+): HelmOptional(\d+)x\n", self._optional_block, text, flags=re.MULTILINE
        )
        return re.sub(r"HelmToken(\d+)x", lambda found: self._expressions[int(found[1])], whole_lines)

    def _optional_block(self, found: re.Match[str]) -> str:
        indent, key, number = found.groups()
        lines = (
            f"{{{{- with {self._expressions[int(number)]} }}}}",
            f"{key}: {{{{ toJson . }}}}",
            "{{- end }}",
        )
        return "".join(f"{indent}{line}\n" for line in lines)


_NOTES = """\
Steward {{ .Chart.AppVersion }} is starting in {{ .Release.Namespace }}. Check its progress and health:

  kubectl get pods -n {{ .Release.Namespace }}
  steward doctor --system-namespace {{ .Release.Namespace }}
{{- if not .Values.tenants.enabled }} --only multigres{{ end }}
{{- if not .Values.multigres.enabled }} --only tenants{{ end }}

The custom resource definitions stay when this is uninstalled: deleting them would delete every cluster and tenant.
"""


def templates() -> dict[str, str]:
    """Files below `templates/` by name."""
    files = {
        "NOTES.txt": _NOTES,
        "crds.yaml": _CRDS,
        "metrics-reader.yaml": _template_file([metrics_reader()], "", HelmTokens()),
        "alerts.yaml": _monitoring_template("alerts", RULES),
        "dashboards.yaml": _monitoring_template("dashboards", DASHBOARDS),
    }
    for operator in OPERATORS:
        files |= _operator_templates(operator)
    both = "and .Values.multigres.enabled .Values.tenants.enabled"
    return {
        **files,
        "databases-for-tenants.yaml": _template_file([databases_for_tenants()], both, HelmTokens()),
    }


def _operator_templates(operator: ShippedOperator) -> dict[str, str]:
    tokens = HelmTokens()
    values = _token_values(operator, tokens)
    is_on = f".Values.{operator.short_name}.enabled"
    core = manifests.core(operator, values)
    _set_list_expressions(core, operator, tokens)
    sections = {
        "rbac": (manifests.rbac(operator, values), is_on),
        "operator": (core, is_on),
        "network-policy": ([network_policy(operator, values)], f"and {is_on} .Values.networkPolicy"),
        "webhooks": (manifests.webhooks(operator, values), f"and {is_on} .Values.webhooks"),
        "service-monitor": (
            [service_monitor(operator, values)],
            f"and {is_on} .Values.monitoring.serviceMonitor",
        ),
    }
    return {
        f"{operator.short_name}-{name}.yaml": _template_file(objects, condition, tokens)
        for name, (objects, condition) in sections.items()
    }


def _token_values(operator: ShippedOperator, tokens: HelmTokens) -> Values:
    name = operator.short_name
    operator_values = OperatorValues(
        replicas=cast(int, tokens.value(f".Values.{name}.replicas")),
        resources=tokens.json(f".Values.{name}.resources"),
        node_selector=tokens.optional(f".Values.{name}.nodeSelector"),
        tolerations=tokens.optional(f".Values.{name}.tolerations"),
    )
    return Values(
        namespace=tokens.value(".Release.Namespace"),
        image=Image(
            tokens.value(".Values.image.repository"),
            tokens.value(".Values.image.tag"),
            tokens.value(".Values.image.pullPolicy"),
        ),
        image_pull_secrets=tokens.optional(".Values.imagePullSecrets"),
        priority_class_name=tokens.optional(".Values.priorityClassName"),
        multigres=operator_values,
        tenants=operator_values,
    )


def _set_list_expressions(core: list[Manifest], operator: ShippedOperator, tokens: HelmTokens) -> None:
    """Sets args and env, which combine fixed items with items from the values."""
    deployment = next(manifest for manifest in core if manifest["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    container["args"] = tokens.json(
        f'(concat (list "run" "{operator.short_name}") (ternary (list) (list "--webhooks=off") .Values.webhooks) '
        f".Values.{operator.short_name}.args)"
    )
    fixed = json.dumps(json.dumps([OWN_NAMESPACE]))
    container["env"] = tokens.json(f"(concat (fromJsonArray {fixed}) .Values.{operator.short_name}.env)")


def _template_file(objects: list[Manifest], condition: str, tokens: HelmTokens) -> str:
    text = "---\n".join(
        yaml.safe_dump(manifest, sort_keys=False, width=1000, allow_unicode=True) for manifest in objects
    )
    body = tokens.substitute(text)
    return f"{NOTE}{{{{- if {condition} }}}}\n{body}{{{{- end }}}}\n" if condition else NOTE + body


def _monitoring_template(value: str, files: dict[ShippedOperator, str]) -> str:
    """Reads the files as data, not as templates: they contain braces."""
    parts = [
        f"{{{{- if and .Values.{operator.short_name}.enabled .Values.monitoring.{value} }}}}\n"
        f'{{{{- $object := fromYaml (.Files.Get "files/monitoring/{name}") }}}}\n'
        '{{- $_ := set $object.metadata "namespace" .Release.Namespace }}\n'
        "---\n{{ toYaml $object }}\n{{- end }}\n"
        for operator, name in files.items()
    ]
    return NOTE + "".join(parts)


_CRDS = (
    NOTE
    + """{{- if .Values.crds }}
{{- range $path, $_ := .Files.Glob "files/crd/*_*.yaml" }}
{{- $operator := ternary "multigres" "tenants" (contains "multigres.com_" $path) }}
{{- if (index $.Values $operator).enabled }}
{{- $crd := fromYaml ($.Files.Get $path) }}
{{- $kept := dict "helm.sh/resource-policy" "keep" }}
{{- $_ := set $crd.metadata "annotations" (merge $kept (default dict $crd.metadata.annotations)) }}
---
{{ toYaml $crd }}
{{- end }}
{{- end }}
{{- end }}
"""
)
