"""The record of what is made on the machine."""

from __future__ import annotations

from pathlib import Path

from steward.local.containers.machine import record
from steward.local.containers.machine.record import MachineRecord


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = MachineRecord("boot", "/usr/sbin", {"vm/panic_on_oom": "0"}, ["/var/lib/cni"])
    record.write(tmp_path / "machine.json", written)
    assert record.read(tmp_path / "machine.json") == written


def test_a_missing_or_damaged_record_is_none(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text('{"boot": 7')
    assert record.read(damaged) is None
    assert record.read(tmp_path / "missing.json") is None


def test_missing_directories_are_named_with_their_parents_first(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    wanted = (tmp_path / "lib" / "cni", tmp_path / "log" / "containers", tmp_path / "lib")
    assert record.missing_directories(wanted) == [
        str(tmp_path / "lib/cni"),
        str(tmp_path / "log"),
        str(tmp_path / "log/containers"),
    ]
