"""What is made on the machine, and when it is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.containers.machine import preparation, record
from steward.local.containers.machine.record import MachineRecord
from steward.local.errors import MachineUnsuitable
from steward.local.settings import Layout
from tests.local.containers.support.assemblies import container_assembly


def test_the_bridge_gets_its_address_those_of_the_nodes_and_the_route_of_services() -> None:
    commands = [" ".join(arguments) for arguments in preparation.bridge_commands(container_assembly())]
    assert commands == [
        "link add name steward0 type bridge",
        "link set dev steward0 addrgenmode none",
        "address add 10.88.0.1/24 dev steward0",
        "address add 10.88.0.2/32 dev steward0",
        "address add 10.88.0.3/32 dev steward0",
        "link set dev steward0 up",
        "route add 10.96.0.0/16 dev steward0 src 10.88.0.1",
    ]


def test_a_cluster_without_record_leaves_the_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "_remove_all", lambda known: pytest.fail("not ours"))
    preparation.clean(Layout(tmp_path))


def test_a_record_from_before_a_reboot_does_not_stop_the_cluster_of_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, owner = Layout(tmp_path / "a"), tmp_path / "owner"
    layout.directory.mkdir()
    record.write(layout.machine_record, MachineRecord("boot", "/usr/sbin", {}, []))
    owner.write_text(str(tmp_path / "b"))
    monkeypatch.setattr(preparation, "OWNER_FILE", owner)
    monkeypatch.setattr(preparation, "_remove_all", lambda known: pytest.fail("not ours"))
    monkeypatch.setattr("steward.local.containers.machine.cgroups.kill_all", lambda: pytest.fail("not ours"))
    preparation.kill_containers(layout)
    preparation.clean(layout)
    assert not layout.machine_record.exists()


def test_only_root_can_stop_a_cluster_with_containers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(tmp_path)
    record.write(layout.machine_record, MachineRecord("boot", "/usr/sbin", {}, []))
    monkeypatch.setattr(preparation, "OWNER_FILE", tmp_path / "none")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(MachineUnsuitable, match="only root can stop: run the command with sudo"):
        preparation.clean(layout)
    assert layout.machine_record.exists()


@pytest.mark.parametrize(
    ("boot", "expected"),
    [("this boot", ["network", "rules", "settings", "cgroups"]), ("earlier", ["network", "cgroups"])],
)
def test_rules_and_settings_of_an_earlier_boot_are_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, boot: str, expected: list[str]
) -> None:
    """The acts themselves run in tests/e2e: here they would end a cluster of this machine."""
    layout, done = Layout(tmp_path), list[str]()
    record.write(layout.machine_record, MachineRecord(boot, str(tmp_path), {}, []))
    monkeypatch.setattr(preparation, "OWNER_FILE", tmp_path / "none")
    monkeypatch.setattr(preparation, "RUN", tmp_path / "run")
    monkeypatch.setattr(preparation, "_require_root", lambda layout: None)
    monkeypatch.setattr(preparation, "kill_containers", lambda layout: None)
    monkeypatch.setattr(record, "current_boot", lambda: "this boot")
    monkeypatch.setattr(preparation, "_remove_network", lambda: done.append("network"))
    monkeypatch.setattr(preparation.cgroups, "remove", lambda: done.append("cgroups"))
    monkeypatch.setattr(preparation.sysctls, "restore", lambda recorded: done.append("settings"))
    monkeypatch.setattr(preparation, "Iptables", lambda directory: Recorder(done))
    preparation.clean(layout)
    assert done == expected
    assert not layout.machine_record.exists()


class Recorder:
    def __init__(self, done: list[str]) -> None:
        self._done = done

    def remove(self) -> None:
        self._done.append("rules")
