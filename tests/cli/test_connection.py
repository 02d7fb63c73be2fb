"""Errors of verbs that are called without a cluster."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from steward.cli import connection
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import NoCluster


@pytest.fixture
def without_cluster(tmp_path: Path) -> ConfigSource:
    return ConfigSource(environ={"HOME": str(tmp_path)}, service_account=tmp_path)


def test_a_running_local_cluster_is_suggested(
    without_cluster: ConfigSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_local_kubeconfig", lambda: "kubeconfig")

    with pytest.raises(NoCluster, match="or --local for the cluster of `steward up`"):
        connection.load_connection_settings(without_cluster)


def test_a_stopped_local_cluster_is_not_suggested(
    without_cluster: ConfigSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find() -> str:
        raise click.ClickException("No control plane runs there")

    monkeypatch.setattr(connection, "_local_kubeconfig", find)

    with pytest.raises(NoCluster, match=r"or pass --kubeconfig$"):
        connection.load_connection_settings(without_cluster)
