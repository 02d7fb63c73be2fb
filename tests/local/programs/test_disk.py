from __future__ import annotations

import errno
from pathlib import Path

import pytest

from steward.local.errors import DiskFull
from steward.local.programs.disk import Need, require, told

HUGE = 1 << 60


def test_too_little_room_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(
        DiskFull, match=r"A cluster needs .* GiB .* free: make room, or choose another directory\."
    ):
        require(Need("A cluster", HUGE, tmp_path, "choose another directory"))


def test_enough_room_is_no_matter(tmp_path: Path) -> None:
    require(Need("A cluster", 1, tmp_path, "choose another directory"))


def test_a_disk_that_becomes_full_is_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(DiskFull, match="A cluster filled the disk"),
        told(Need("A cluster", 1, tmp_path, "go")),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), told(Need("A cluster", 1, tmp_path, "go")):
        raise PermissionError(errno.EACCES, "no")
