"""The Helm chart's templates, made from the same functions as every other way to install.

The functions are called with values that stand for Helm's: tokens that go through them as text and become expressions
in what is written. So the chart cannot forget an object or a field that `steward install` has.
"""

import json
import re
from typing import Any, cast

import yaml

from steward.install import manifests
from steward.install.monitoring import DASHBOARDS, RULES
from steward.install.network import network_policy, service_monitor
from steward.install.operators import SHIPPED, Shipped
from steward.install.rbac import databases_for_tenants, metrics_reader
from steward.install.values import Image, OperatorValues, Values
from steward.install.workloads import OWN_NAMESPACE
from steward.kube.objects.kinds import Manifest

NOTE = "# Made by `make generate` from src/steward/install: edit there.\n"


class Tokens:
    """Words that stand for Helm expressions. `Optional` ones take their whole line away when the value is empty."""

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

    def written(self, text: str) -> str:
        whole_lines = re.sub(r"^( *)(\w+): HelmOptional(\d+)x\n", self._with, text, flags=re.MULTILINE)
        return re.sub(r"HelmToken(\d+)x", lambda found: self._expressions[int(found[1])], whole_lines)

    def _with(self, found: re.Match[str]) -> str:
        indent, key, number = found.groups()
        lines = (
            f"{{{{- with {self._expressions[int(number)]} }}}}",
            f"{key}: {{{{ toJson . }}}}",
            "{{- end }}",
        )
        return "".join(f"{indent}{line}\n" for line in lines)


_NOTES = """\
Steward {{ .Chart.AppVersion }} comes up in {{ .Release.Namespace }}. See how it goes, and what is wrong with it:

  kubectl get pods -n {{ .Release.Namespace }}
  steward doctor --system-namespace {{ .Release.Namespace }}
{{- if not .Values.tenants.enabled }} --only multigres{{ end }}
{{- if not .Values.multigres.enabled }} --only tenants{{ end }}

The custom resource definitions stay when this is uninstalled: with them would go every cluster and every tenant.
"""


def templates() -> dict[str, str]:
    """The files below `templates/`, by name."""
    files = {
        "NOTES.txt": _NOTES,
        "crds.yaml": _CRDS,
        "metrics-reader.yaml": _file([metrics_reader()], "", Tokens()),
        "alerts.yaml": _picked_up("alerts", RULES),
        "dashboards.yaml": _picked_up("dashboards", DASHBOARDS),
    }
    for operator in SHIPPED:
        files |= _of_operator(operator)
    both = "and .Values.multigres.enabled .Values.tenants.enabled"
    return {**files, "databases-for-tenants.yaml": _file([databases_for_tenants()], both, Tokens())}


def _of_operator(operator: Shipped) -> dict[str, str]:
    tokens = Tokens()
    values = _values(operator, tokens)
    is_on = f".Values.{operator.word}.enabled"
    core = manifests.core(operator, values)
    _with_lists(core, operator, tokens)
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
        f"{operator.word}-{name}.yaml": _file(objects, condition, tokens)
        for name, (objects, condition) in sections.items()
    }


def _values(operator: Shipped, tokens: Tokens) -> Values:
    word = operator.word
    chosen = OperatorValues(
        replicas=cast(int, tokens.value(f".Values.{word}.replicas")),
        resources=tokens.json(f".Values.{word}.resources"),
        node_selector=tokens.optional(f".Values.{word}.nodeSelector"),
        tolerations=tokens.optional(f".Values.{word}.tolerations"),
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
        multigres=chosen,
        tenants=chosen,
    )


def _with_lists(core: list[Manifest], operator: Shipped, tokens: Tokens) -> None:
    """Lists that hold something of ours beside what is chosen."""
    deployment = next(manifest for manifest in core if manifest["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    container["args"] = tokens.json(
        f'(concat (list "run" "{operator.word}") (ternary (list) (list "--webhooks=off") .Values.webhooks) '
        f".Values.{operator.word}.args)"
    )
    own = json.dumps(json.dumps([OWN_NAMESPACE]))
    container["env"] = tokens.json(f"(concat (fromJsonArray {own}) .Values.{operator.word}.env)")


def _file(objects: list[Manifest], condition: str, tokens: Tokens) -> str:
    text = "---\n".join(
        yaml.safe_dump(manifest, sort_keys=False, width=1000, allow_unicode=True) for manifest in objects
    )
    body = tokens.written(text)
    return f"{NOTE}{{{{- if {condition} }}}}\n{body}{{{{- end }}}}\n" if condition else NOTE + body


def _picked_up(value: str, files: dict[Shipped, str]) -> str:
    """Files that hold braces of their own, so they are read as data, not as templates."""
    parts = [
        f"{{{{- if and .Values.{operator.word}.enabled .Values.monitoring.{value} }}}}\n"
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
