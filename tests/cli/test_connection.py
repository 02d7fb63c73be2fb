"""Which cluster a verb means, and what it says where nobody named one."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from steward.cli import connection
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import NoCluster


@pytest.fixture
def nothing_named(tmp_path: Path) -> ConfigSource:
    return ConfigSource(environ={"HOME": str(tmp_path)}, service_account=tmp_path)


def test_a_local_cluster_that_runs_is_offered(
    nothing_named: ConfigSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_local_kubeconfig", lambda: "kubeconfig")

    with pytest.raises(NoCluster, match="or --local for the cluster of `steward up`"):
        connection.settings_for(nothing_named)


def test_one_that_does_not_run_is_not_offered(
    nothing_named: ConfigSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find() -> str:
        raise click.ClickException("No control plane runs there")

    monkeypatch.setattr(connection, "_local_kubeconfig", find)

    with pytest.raises(NoCluster, match=r"or pass --kubeconfig$"):
        connection.settings_for(nothing_named)
