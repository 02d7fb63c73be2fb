"""The command lines of the operators on a local control plane."""

from pathlib import Path
from typing import Any

import pytest

from steward.install.operators import OPERATORS
from steward.local.control_plane import ControlPlane
from steward.local.operators import OperatorProcesses
from steward.local.settings import OPERATOR_SERVICES


@pytest.fixture
def processes(tmp_path: Path) -> OperatorProcesses:
    ports = {f"{operator.name}-{what}": 1 for operator in OPERATORS for what in ("webhooks", "probes")}
    return OperatorProcesses(ControlPlane(tmp_path, "https://127.0.0.1:1"), ports)


def test_every_process_has_a_command_in_the_order_of_the_start(processes: OperatorProcesses) -> None:
    assert tuple(processes.commands()) == OPERATOR_SERVICES


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_an_operator_runs_under_its_own_account_and_listens_only_on_loopback(
    processes: OperatorProcesses, operator: Any
) -> None:
    command = processes.commands()[operator.name]
    assert f"--kubeconfig={processes.layout.operators / f'{operator.short_name}.kubeconfig'}" in command
    addresses = [flag for flag in command if "bind-address" in flag]
    assert all("=127.0.0.1:" in flag or flag.endswith("=0") for flag in addresses)
