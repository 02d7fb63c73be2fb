"""Generates the templates of the Helm chart with the functions that make the manifests of `steward install`.

The functions get tokens as values; in the output, the tokens are replaced by Helm expressions. So the chart has every
object and field that `steward install` has.
"""

import json
from typing import cast

from steward.install import manifests
from steward.install.admission_policy import PolicySettings, operator_policy
from steward.install.chart_page import page_templates
from steward.install.chart_rbac import rbac_template
from steward.install.helm_tokens import NOTE, HelmTokens, dump, template_file
from steward.install.monitoring import DASHBOARDS, RULES
from steward.install.network import network_policy, service_monitor
from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator, labels
from steward.install.pod_monitors import pod_monitors
from steward.install.rbac import databases_for_tenants, metrics_reader
from steward.install.values import Image, NetworkPolicyPeers, TenantsValues, Values
from steward.install.workloads import (
    CERTIFICATE_MOUNT,
    CERTIFICATE_VOLUME,
    OWN_NAMESPACE,
    PARTITION_LABEL,
    VOLUME_MOUNTS,
    VOLUMES,
    partition_deployment,
)
from steward.kube.objects.kinds import Manifest

_CHECKS = """\
{{- if hasPrefix "kube-" .Release.Namespace }}
{{- fail (printf "%s belongs to Kubernetes: choose a namespace that does not begin with kube-" .Release.Namespace) }}
{{- end }}
{{- if not .Values.image.repository }}
{{- fail "image.repository is empty: name the registry that your nodes pull the image of Steward from, as in \
--set image.repository=registry.example.com/steward" }}
{{- end }}
"""
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
        "checks.yaml": NOTE + _CHECKS,
        "crds.yaml": _CRDS,
        "metrics-reader.yaml": template_file([metrics_reader()], "", HelmTokens()),
        "alerts.yaml": _monitoring_template("alerts", RULES, _RUNBOOK_LINKS),
        "dashboards.yaml": _monitoring_template("dashboards", DASHBOARDS),
    }
    for operator in OPERATORS:
        files |= _operator_templates(operator)
    both = "and .Values.multigres.enabled .Values.tenants.enabled"
    return {
        **files,
        **page_templates(),
        "databases-for-tenants.yaml": template_file([databases_for_tenants()], both, HelmTokens()),
    }


def _operator_templates(operator: ShippedOperator) -> dict[str, str]:
    tokens = HelmTokens()
    values = _token_values(operator, tokens)
    is_on = f".Values.{operator.short_name}.enabled"
    core = manifests.core(operator, values)
    _set_list_expressions(core, operator, tokens)
    partitions = {"tenants-partitions.yaml": _partition_template(core, tokens)} if operator == TENANTS else {}
    sections = {
        "policy": (
            operator_policy(operator, _policy_settings(tokens)),
            f"and {is_on} .Values.admissionPolicies",
        ),
        "operator": (core, is_on),
        "network-policy": ([network_policy(operator, values)], f"and {is_on} .Values.networkPolicy"),
        "webhooks": (_webhooks(operator, values, tokens), f"and {is_on} .Values.webhooks"),
        "service-monitor": (
            [service_monitor(operator, values)],
            f"and {is_on} .Values.monitoring.serviceMonitor",
        ),
    }
    if operator == MULTIGRES:
        sections["pod-monitors"] = (pod_monitors(values), f"and {is_on} .Values.monitoring.podMonitors")
    return {
        f"{operator.short_name}-rbac.yaml": rbac_template(operator),
        **partitions,
        **{
            f"{operator.short_name}-{name}.yaml": template_file(objects, condition, tokens)
            for name, (objects, condition) in sections.items()
        },
    }


def _partition_template(core: list[Manifest], tokens: HelmTokens) -> str:
    """One Deployment for each partition but the first. `with $` makes the dot the chart again, as outside the loop."""
    main = next(manifest for manifest in core if manifest["kind"] == "Deployment")
    number = tokens.expression("{{ $partition }}")
    made = partition_deployment(main, number, tokens.json(_args_expression(TENANTS, "$partition")))
    for chosen in (made["metadata"]["labels"], made["spec"]["selector"]["matchLabels"]):
        chosen[PARTITION_LABEL] = tokens.expression("{{ $partition | quote }}")
    pod = made["spec"]["template"]["metadata"]
    pod["labels"] = tokens.json(
        _pod_labels_expression(TENANTS, f'(dict "{PARTITION_LABEL}" (toString $partition))')
    )
    loop = "range $partition := untilStep 1 (int .Values.tenants.partitions) 1"
    body = f"---\n{dump(made)}"
    text = tokens.substitute(body)
    return (
        f"{NOTE}{{{{- if .Values.tenants.enabled }}}}\n{{{{- {loop} }}}}\n{{{{- with $ }}}}\n{text}"
        "{{- end }}\n{{- end }}\n{{- end }}\n"
    )


def _pod_labels_expression(operator: ShippedOperator, more: str = "") -> str:
    fixed = json.dumps(json.dumps(labels(operator)))
    return f"(merge (fromJson {fixed}) {more + ' ' if more else ''}.Values.{operator.short_name}.podLabels)"


def _policy_settings(tokens: HelmTokens) -> PolicySettings:
    return PolicySettings(
        tokens.value(".Release.Namespace"),
        tokens.json(".Values.tenants.allowKinds"),
        tokens.value(".Values.tenants.templateScope"),
    )


def _webhooks(operator: ShippedOperator, values: Values, tokens: HelmTokens) -> list[Manifest]:
    selector = f'(dict "matchExpressions" (list (dict "key" "{manifests.NAMESPACE_NAME}" "operator" "In" "values" .)))'
    chosen = tokens.optional(f".Values.{operator.short_name}.namespaces", selector)
    return manifests.selected_webhooks(operator, values, chosen)


def _token_values(operator: ShippedOperator, tokens: HelmTokens) -> Values:
    name = operator.short_name
    operator_values = TenantsValues(
        replicas=cast(int, tokens.value(f".Values.{name}.replicas")),
        resources=tokens.json(f".Values.{name}.resources"),
        node_selector=tokens.optional(f".Values.{name}.nodeSelector"),
        tolerations=tokens.optional(f".Values.{name}.tolerations"),
        affinity=tokens.optional(f".Values.{name}.affinity"),
        service_account_annotations=tokens.optional(f".Values.{name}.serviceAccountAnnotations"),
    )
    return Values(
        namespace=tokens.value(".Release.Namespace"),
        image=Image(
            tokens.value(".Values.image.repository"),
            tokens.expression("{{ .Values.image.tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}"),
            tokens.value(".Values.image.pullPolicy"),
        ),
        image_pull_secrets=tokens.optional(".Values.imagePullSecrets"),
        priority_class_name=tokens.optional(".Values.priorityClassName"),
        network_policy_peers=NetworkPolicyPeers(
            tokens.optional(".Values.networkPolicyPeers.metrics"),
            tokens.optional(".Values.networkPolicyPeers.webhooks"),
        ),
        multigres=operator_values,
        tenants=operator_values,
    )


def _set_list_expressions(core: list[Manifest], operator: ShippedOperator, tokens: HelmTokens) -> None:
    """Sets what combines fixed items with items from the values: args, env, labels and annotations of pods."""
    deployment = next(manifest for manifest in core if manifest["kind"] == "Deployment")
    template = deployment["spec"]["template"]
    own = f".Values.{operator.short_name}"
    fixed = json.dumps(json.dumps(template["metadata"]["annotations"]))
    template["metadata"]["annotations"] = tokens.json(f"(merge (fromJson {fixed}) {own}.podAnnotations)")
    template["metadata"]["labels"] = tokens.json(_pod_labels_expression(operator))
    (container,) = template["spec"]["containers"]
    template["spec"]["volumes"] = tokens.json(_volumes_expression(own))
    container["volumeMounts"] = tokens.json(_mounts_expression(own))
    container["args"] = tokens.json(_args_expression(operator))
    fixed = json.dumps(json.dumps([OWN_NAMESPACE]))
    container["env"] = tokens.json(f"(concat (fromJsonArray {fixed}) .Values.{operator.short_name}.env)")


def _volumes_expression(own: str) -> str:
    secret = f"{own}.webhookCertificateSecret"
    volume = f'(dict "name" "{CERTIFICATE_VOLUME}" "secret" (dict "secretName" {secret}))'
    fixed = json.dumps(json.dumps(VOLUMES))
    return f"(concat (fromJsonArray {fixed}) {_list_if(secret, volume)} {own}.extraVolumes)"


def _mounts_expression(own: str) -> str:
    fixed, certificate = (json.dumps(json.dumps(made)) for made in (VOLUME_MOUNTS, CERTIFICATE_MOUNT))
    optional = _list_if(f"{own}.webhookCertificateSecret", f"(fromJson {certificate})")
    return f"(concat (fromJsonArray {fixed}) {optional} {own}.extraVolumeMounts)"


def _args_expression(operator: ShippedOperator, partition: str = "0") -> str:
    own = f".Values.{operator.short_name}"
    total = f"(int {own}.partitions)"
    lists = [
        f'(list "run" "{operator.short_name}")',
        '(ternary (list) (list "--webhooks=off") .Values.webhooks)',
        _list_if(f"{own}.namespaces", f'(printf "--namespaces=%s" (join "," {own}.namespaces))'),
    ]
    if operator == TENANTS:
        lists += [
            _list_if(f"(gt {total} 1)", f'(printf "--shard=%d/%d" (int {partition}) {total})'),
            _list_if(f"{own}.namespaces", '"--no-cross-namespace"'),
            _list_if(f'(eq {own}.templateScope "cluster")', '"--template-scope=cluster"'),
            _list_if(f"{own}.allowKinds", f'(printf "--allow-kinds=%s" (join "," {own}.allowKinds))'),
        ]
    return f"(concat {' '.join(lists)} {own}.args)"


def _list_if(condition: str, item: str) -> str:
    return f"(ternary (list {item}) (list) (not (empty {condition})))"


_RUNBOOK_LINKS = """{{- if $.Values.monitoring.runbookBaseUrl }}
{{- range $group := $object.spec.groups }}
{{- range $rule := $group.rules }}
{{- with $rule.annotations }}
{{- $_ := set . "runbook_url" (printf "%s/%s" (trimSuffix "/" $.Values.monitoring.runbookBaseUrl) .runbook_url) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
"""


def _monitoring_template(value: str, files: dict[ShippedOperator, str], changes: str = "") -> str:
    """Reads the files as data, not as templates: they contain braces."""
    parts = [
        f"{{{{- if and .Values.{operator.short_name}.enabled .Values.monitoring.{value} }}}}\n"
        f'{{{{- $object := fromYaml (.Files.Get "files/monitoring/{name}") }}}}\n'
        '{{- $_ := set $object.metadata "namespace" .Release.Namespace }}\n'
        f"{changes}---\n{{{{ toYaml $object }}}}\n{{{{- end }}}}\n"
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
