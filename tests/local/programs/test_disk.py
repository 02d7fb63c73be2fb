from __future__ import annotations

import errno
from pathlib import Path

import pytest

from steward.local.errors import DiskFull
from steward.local.programs.disk import DiskRequirement, require_space, translate_disk_full

HUGE = 1 << 60


def test_too_little_space_is_reported_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(
        DiskFull, match=r"A cluster needs .* GiB .* free: make room, or choose another directory\."
    ):
        require_space(DiskRequirement("A cluster", HUGE, tmp_path, "choose another directory"))


def test_enough_space_raises_nothing(tmp_path: Path) -> None:
    require_space(DiskRequirement("A cluster", 1, tmp_path, "choose another directory"))


def test_a_disk_that_becomes_full_is_an_error_with_the_cure(tmp_path: Path) -> None:
    with (
        pytest.raises(DiskFull, match="A cluster filled the disk"),
        translate_disk_full(DiskRequirement("A cluster", 1, tmp_path, "go")),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_other_errors_are_not_translated(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), translate_disk_full(DiskRequirement("A cluster", 1, tmp_path, "go")):
        raise PermissionError(errno.EACCES, "no")
