"""Which programs are run, with scripts in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.containers.machine import iptables
from steward.local.containers.machine.iptables import Iptables
from steward.local.errors import MachineUnsuitable


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """iptables-save prints the file `saved`; iptables-restore keeps its input in `restored`, or fails."""
    script(tmp_path / "iptables-save", f"cat {tmp_path}/saved")
    script(
        tmp_path / "iptables-restore",
        f"cat > {tmp_path}/restored; [ ! -e {tmp_path}/fails ] || {{ echo no >&2; exit 2; }}",
    )
    return tmp_path


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_chains_are_removed_in_one_call(programs: Path) -> None:
    (programs / "saved").write_text("*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n")
    Iptables(programs).remove()
    assert (programs / "restored").read_text() == "*nat\n-F KUBE-SERVICES\n-X KUBE-SERVICES\nCOMMIT\n"


def test_nothing_is_written_if_there_is_nothing_to_remove(programs: Path) -> None:
    (programs / "saved").write_text("*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n")
    Iptables(programs).remove()
    assert not (programs / "restored").exists()


def test_rejected_rules_are_an_error_with_the_reason(programs: Path) -> None:
    (programs / "fails").touch()
    with pytest.raises(
        MachineUnsuitable, match=r"rejects the rules of the pod network \(no\): load the kernel's modules"
    ):
        Iptables(programs).install("10.88.0.0/24")


def test_missing_programs_are_an_error_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iptables, "SYSTEM_PATH", str(tmp_path))
    with pytest.raises(MachineUnsuitable, match="run `apt-get install iptables`"):
        Iptables(tmp_path / "deleted")
