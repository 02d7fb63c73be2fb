"""Kernel settings, in a directory that stands for /proc/sys."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.containers.machine import sysctls


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    for name, value in {"vm/overcommit_memory": "0", "kernel/panic": "0", "kernel/other": "5"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    return tmp_path


def test_settings_that_exist_are_read(settings: Path) -> None:
    assert sysctls.read(settings) == {"kernel/panic": "0", "vm/overcommit_memory": "0"}


def test_changed_settings_are_written_back(settings: Path) -> None:
    before = sysctls.read(settings)
    (settings / "kernel/panic").write_text("10\n")
    sysctls.restore(before, settings)
    assert sysctls.read(settings) == before


def test_a_record_cannot_change_other_settings(settings: Path) -> None:
    sysctls.restore({"kernel/other": "9", "../outside": "1"}, settings)
    assert (settings / "kernel/other").read_text() == "5\n"
