"""The template of the page in the Helm chart, made by the functions that make its manifests."""

import json
from collections.abc import Sequence

from steward.install.helm_tokens import HelmTokens, template_file
from steward.install.page import (
    AUTHORITY_MOUNT,
    AUTHORITY_VOLUME,
    CERTIFICATE_ARGS,
    CERTIFICATE_MOUNT,
    CERTIFICATE_VOLUME,
    FIXED_ARGS,
    page_network_policy,
    page_workload,
)
from steward.install.values import Image, PageValues, Values
from steward.install.workloads import VOLUME_MOUNTS, VOLUMES

_SECRET = ".Values.page.certificateSecret"
_IS_ON = ".Values.page.enabled"


def page_templates() -> dict[str, str]:
    """Files below `templates/` by name."""
    tokens = HelmTokens()
    values = _token_values(tokens)
    workload = page_workload(values.page, values)
    pod = workload[1]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    container["args"] = tokens.json(_args_expression())
    pod["volumes"] = tokens.json(_volumes_expression())
    container["volumeMounts"] = tokens.json(_mounts_expression())
    return {
        "page.yaml": template_file(workload, _IS_ON, tokens),
        "page-network-policy.yaml": template_file(
            [page_network_policy(values)], f"and {_IS_ON} .Values.networkPolicy", tokens
        ),
    }


def _token_values(tokens: HelmTokens) -> Values:
    page = PageValues(
        resources=tokens.json(".Values.page.resources"),
        node_selector=tokens.optional(".Values.page.nodeSelector"),
        tolerations=tokens.optional(".Values.page.tolerations"),
        affinity=tokens.optional(".Values.page.affinity"),
    )
    return Values(
        namespace=tokens.value(".Release.Namespace"),
        image=Image(
            tokens.value(".Values.image.repository"),
            tokens.expression("{{ .Values.image.tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}"),
            tokens.value(".Values.image.pullPolicy"),
        ),
        image_pull_secrets=tokens.optional(".Values.imagePullSecrets"),
        page=page,
    )


def _args_expression() -> str:
    public_url = '(printf "--public-url=%s" .Values.page.publicUrl)'
    lists = [
        _fixed(FIXED_ARGS),
        f"(ternary {_fixed(CERTIFICATE_ARGS)} (list) (not (empty {_SECRET})))",
        f"(ternary (list {public_url}) (list) (not (empty .Values.page.publicUrl)))",
        '(ternary (list "--actions") (list) .Values.page.actions)',
    ]
    return f"(concat {' '.join(lists)})"


def _volumes_expression() -> str:
    volume = f'(dict "name" "{CERTIFICATE_VOLUME}" "secret" (dict "secretName" {_SECRET}))'
    optional = f"(ternary (list {volume}) (list) (not (empty {_SECRET})))"
    return f"(concat {_fixed([*VOLUMES, AUTHORITY_VOLUME])} {optional})"


def _mounts_expression() -> str:
    optional = f"(ternary {_fixed([CERTIFICATE_MOUNT])} (list) (not (empty {_SECRET})))"
    return f"(concat {_fixed([*VOLUME_MOUNTS, AUTHORITY_MOUNT])} {optional})"


def _fixed(items: Sequence[object]) -> str:
    return f"(fromJsonArray {json.dumps(json.dumps(list(items)))})"
