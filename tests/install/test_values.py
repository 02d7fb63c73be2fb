"""Values that would put an operator, or what it acts as, into the namespaces of Kubernetes are rejected."""

from typing import Any

import click
import msgspec
import pytest

from steward.cli.commands.installation.install import command
from steward.install.values import Values


@pytest.mark.parametrize(
    "given",
    [
        {"multigres": {"namespaces": ["shop", "kube-system"]}},
        {"tenants": {"namespaces": ["kube-node-lease"]}},
        {"tenants": {"impersonate": [{"namespace": "kube-system", "serviceAccounts": ["a"]}]}},
    ],
)
def test_namespaces_of_kubernetes_are_rejected(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match="belongs to Kubernetes: name a namespace"):
        msgspec.convert(given, Values)


@pytest.mark.parametrize("name", ["Shop", "a b", "'", "a,b", "-a"])
def test_what_is_no_name_of_a_namespace_is_rejected(name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"multigres.namespaces\[0\]"):
        msgspec.convert({"multigres": {"namespaces": [name]}}, Values)


def test_the_operators_are_not_installed_in_a_namespace_of_kubernetes() -> None:
    with pytest.raises(click.ClickException, match="kube-system belongs to Kubernetes"):
        command.main(["--namespace", "kube-system"], standalone_mode=False)
