from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

from steward.local.images.layers import (
    LayerDirectory,
    LayerEntry,
    LayerFile,
    LayerLink,
    LayerText,
    tree_entries,
    write_layer,
)


def _layer(entries: list[LayerEntry]) -> bytes:
    stream = io.BytesIO()
    write_layer(entries, stream)
    return stream.getvalue()


def _members(content: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        return {member.name: member for member in tar}


def test_parent_directories_come_before_their_files() -> None:
    members = _members(_layer([LayerText("/opt/app/a.txt", "a"), LayerText("etc/b", "b")]))
    assert list(members) == ["etc", "etc/b", "opt", "opt/app", "opt/app/a.txt"]
    assert members["opt"].isdir()


def test_owners_times_and_order_do_not_depend_on_the_files(tmp_path: Path) -> None:
    source = tmp_path / "program"
    source.write_text("content")
    first = _layer([LayerFile("a", source), LayerText("b", "b")])
    os.utime(source, (5, 5))
    os.chown(source, os.getuid(), os.getgid())
    assert _layer([LayerText("b", "b"), LayerFile("a", source)]) == first
    assert {(member.uid, member.gid, member.mtime) for member in _members(first).values()} == {(0, 0, 0)}


def test_modes_are_readable_for_every_user(tmp_path: Path) -> None:
    private, program = tmp_path / "private", tmp_path / "program"
    for path, mode in ((private, 0o600), (program, 0o700)):
        path.write_text("")
        path.chmod(mode)
    members = _members(
        _layer([LayerFile("a", private), LayerFile("b", program), LayerDirectory("tmp", 0o1777)])
    )
    assert {name: oct(member.mode) for name, member in members.items()} == {
        "a": "0o644",
        "b": "0o755",
        "tmp": "0o1777",
    }


def test_a_tree_keeps_its_symbolic_links(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.11").write_text("")
    (tmp_path / "bin" / "python").symlink_to("python3.11")
    assert sorted(tree_entries(tmp_path), key=lambda entry: entry.path) == [
        LayerLink("bin/python", "python3.11"),
        LayerFile("bin/python3.11", tmp_path / "bin" / "python3.11"),
    ]
