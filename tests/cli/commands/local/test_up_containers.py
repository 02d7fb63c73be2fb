"""Options of `steward up --containers`, and what a user reads on a machine that cannot run containers."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from steward.cli.commands.local.up import command
from steward.local import state
from steward.local.state import State

WRONG_OPTIONS = {
    "subnet": (["--pod-subnet", "10.88.0.0/24"], "--pod-subnet needs --containers."),
    "images": (["--images", "."], "--images needs --containers."),
    "nodes": (
        ["--containers", "--nodes", "2"],
        "--nodes is not for containers, which have one node in each zone",
    ),
}


def up(directory: Path, *options: str) -> Result:
    return CliRunner().invoke(command, ["--detach", "--bare", "--dir", str(directory), *options])


@pytest.mark.parametrize(("options", "sentence"), WRONG_OPTIONS.values(), ids=WRONG_OPTIONS)
def test_options_that_do_not_fit_are_wrong_usage(tmp_path: Path, options: list[str], sentence: str) -> None:
    result = up(tmp_path, *options)
    assert result.exit_code == 2
    assert sentence in result.output


def test_missing_root_is_an_error_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    result = up(tmp_path / "cluster", "--containers")
    assert result.exit_code == 1
    assert "Containers need root: run the command with sudo" in result.output
    assert not (tmp_path / "cluster").exists()


def test_a_cluster_without_containers_cannot_get_them(tmp_path: Path) -> None:
    state.write(tmp_path / "state.json", State({"etcd": 1}))
    result = up(tmp_path, "--containers")
    assert result.exit_code == 1
    assert "delete it with `steward down --purge`" in result.output


def test_a_cluster_with_containers_has_them_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state.write(tmp_path / "state.json", State({"etcd": 1}, pod_subnet="10.89.0.0/24"))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    result = up(tmp_path)
    assert "Containers need root" in result.output
