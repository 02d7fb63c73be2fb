"""Generates the health checks for Argo CD: one script, named for each kind with a status.

Argo CD knows no conditions of custom resources; without a script it never waits for them. One entry for each kind,
because its documentation allows wildcards only in an older form of the setting.
"""

from importlib import resources
from typing import Final

import msgspec
import yaml

from steward.install.manifests import CUSTOM_KINDS
from steward.kube.crd.schema import CustomKind

_NOTE: Final = """\
# Made by `make generate` from src/steward/install: edit there.
# Merge into the ConfigMap of Argo CD:
#   kubectl patch configmap argocd-cm -n argocd --patch-file config/argocd/argocd-cm.yaml
"""


def health_script() -> str:
    return resources.files(__package__).joinpath("argocd_health.lua").read_text()


def argocd_health() -> str:
    scripts = {
        f"resource.customizations.health.{custom.group}_{custom.kind}": health_script()
        for found in CUSTOM_KINDS.values()
        for custom in found
        if _has_status(custom)
    }
    content = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm", "namespace": "argocd"},
        "data": scripts,
    }
    return _NOTE + yaml.dump(content, Dumper=_BlockDumper, sort_keys=False, width=120)


def _has_status(custom: CustomKind) -> bool:
    return any(field.name == "status" for field in msgspec.structs.fields(custom.root))


class _BlockDumper(yaml.SafeDumper):
    """Texts of several lines as blocks, so that the script stays readable."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_BlockDumper.add_representer(str, _represent_text)
