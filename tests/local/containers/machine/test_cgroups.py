"""Hierarchies and controllers, from the text of /proc/mounts, and the weight of our cgroups."""

from __future__ import annotations

from pathlib import Path

from steward.local.containers.machine.cgroups import hierarchies, missing_controllers, weigh

FIRST_VERSION = """\
/dev/vda / ext4 rw 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
"""
SECOND_VERSION = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nsdelegate 0 0\n"


def test_every_mounted_hierarchy_is_found() -> None:
    names = [path.name for path in hierarchies(FIRST_VERSION)]
    assert names == ["cpu", "memory", "unified"]
    assert hierarchies(SECOND_VERSION) == [Path("/sys/fs/cgroup")]


def test_a_missing_controller_is_named_in_both_versions() -> None:
    assert missing_controllers(FIRST_VERSION, "") == ["pids"]
    assert missing_controllers(SECOND_VERSION, "cpuset cpu io memory pids") == []
    assert missing_controllers("/dev/vda / ext4 rw 0 0\n", "") == ["cpu", "memory", "pids"]


def test_containers_weigh_as_much_as_the_pods_of_a_machine_in_both_versions(tmp_path: Path) -> None:
    for file in ("first/cpu.shares", "second/cpu.weight"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text("default")
    for version in ("first", "second"):
        weigh(tmp_path / version, processors=8)
    assert (tmp_path / "first" / "cpu.shares").read_text() == "8192"
    assert (tmp_path / "second" / "cpu.weight").read_text() == "800"
    assert not (tmp_path / "first" / "cpu.weight").exists()
