"""Which cluster a verb uses without a kubeconfig."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from steward.cli import connection
from steward.cli.inspect.options import scope_options, selected_scope
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import NoCluster
from steward.local.sample.table import CustomerTable
from steward.local.settings import Layout


@pytest.fixture
def without_cluster(tmp_path: Path) -> ConfigSource:
    return ConfigSource(environ={"HOME": str(tmp_path)}, service_account=tmp_path)


@pytest.fixture
def running_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kubeconfig of a running `steward up` without a sample; its directory is the default one."""
    file = tmp_path / "kubeconfig"
    cluster = {"name": "local", "cluster": {"server": "https://127.0.0.1:6443"}}
    context = {"name": "local", "context": {"cluster": "local"}}
    content = {"clusters": [cluster], "contexts": [context], "current-context": "local"}
    file.write_text(json.dumps(content))
    monkeypatch.setenv("STEWARD_DIR", str(tmp_path))
    monkeypatch.setattr(connection, "_local_kubeconfig", lambda: str(file))
    connection._announce_local_cluster.cache_clear()
    return file


@pytest.mark.usefixtures("running_local")
def test_without_a_kubeconfig_a_running_local_cluster_is_used_and_named_once(
    without_cluster: ConfigSource, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        settings = connection.load_connection_settings(without_cluster)
        assert (settings.server, settings.namespace) == ("https://127.0.0.1:6443", "default")

    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "There is no kubeconfig: using the cluster of `steward up`.\n")


def test_the_namespace_of_the_sample_is_the_default_in_the_local_cluster(
    without_cluster: ConfigSource, running_local: Path
) -> None:
    CustomerTable(Layout(running_local.parent).sample).ensure()
    asked = ConfigSource(kubeconfig=str(running_local))

    assert connection.load_connection_settings(without_cluster).namespace == "demo"
    assert connection.load_connection_settings(asked).namespace == "demo"


def test_a_kubeconfig_of_the_user_wins_over_a_running_local_cluster(
    tmp_path: Path, running_local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    CustomerTable(Layout(running_local.parent).sample).ensure()
    theirs = tmp_path / ".kube" / "config"
    theirs.parent.mkdir()
    theirs.write_text(running_local.read_text().replace("127.0.0.1", "theirs.example.com"))

    settings = connection.load_connection_settings(ConfigSource(environ={"HOME": str(tmp_path)}))

    assert (settings.server, settings.namespace) == ("https://theirs.example.com:6443", "default")
    assert capsys.readouterr().err == ""


def test_a_stopped_local_cluster_is_not_used(
    without_cluster: ConfigSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find() -> str:
        raise click.ClickException("No control plane runs there")

    monkeypatch.setattr(connection, "_local_kubeconfig", find)

    with pytest.raises(NoCluster, match=r"or pass --kubeconfig$"):
        connection.load_connection_settings(without_cluster)


@pytest.mark.usefixtures("running_local")
def test_the_table_of_the_sample_is_found_in_the_local_cluster_without_an_option(
    without_cluster: ConfigSource, tmp_path: Path
) -> None:
    (tmp_path / "broken").write_text("]")
    theirs = tmp_path / "theirs"
    theirs.write_text((tmp_path / "kubeconfig").read_text())
    assert connection.is_local_cluster(without_cluster)
    assert connection.is_local_cluster(ConfigSource(kubeconfig=str(tmp_path / "kubeconfig")))
    assert not connection.is_local_cluster(ConfigSource(kubeconfig=str(theirs)))
    assert not connection.is_local_cluster(ConfigSource(kubeconfig=str(tmp_path / "broken")))


@click.group("group")
@scope_options
def group(**_options: Any) -> None:
    """A verb with parts, as `steward hold`."""


@group.command("part")
@scope_options
def part(**options: Any) -> None:
    source, namespace = selected_scope(options)
    click.echo(f"{Path(source.kubeconfig).name} {namespace or 'all'}")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--kubeconfig", "{0}", "-n", "shop", "part"], "kubeconfig shop"),
        (["-n", "shop", "part", "--kubeconfig", "{0}", "-n", "saas"], "kubeconfig saas"),
        (["-A", "part", "--kubeconfig", "{0}"], "kubeconfig all"),
        (["-A", "part", "--kubeconfig", "{0}", "-n", "saas"], "kubeconfig saas"),
    ],
)
def test_options_of_a_group_count_for_its_parts(
    running_local: Path, arguments: list[str], expected: str
) -> None:
    given = [each.replace("{0}", str(running_local)) for each in arguments]
    done = CliRunner().invoke(group, given)
    assert done.output == f"{expected}\n"
