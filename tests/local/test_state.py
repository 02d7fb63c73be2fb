from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.settings import Topology
from steward.local.state import State, digest, read, replace_file, write


def test_what_was_written_is_read(tmp_path: Path) -> None:
    state = State({"etcd": 1234}, "abc", Topology(5, ("a", "b")))
    write(tmp_path / "state.json", state)
    assert read(tmp_path / "state.json") == state


@pytest.mark.parametrize(
    "damaged", ["", "{", "[]", '{"ports": 1}', '{"ports": {}}', '{"ports": {"a": "x"}, "digest": ""}']
)
def test_a_damaged_file_is_as_none(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "state.json").write_text(damaged)
    assert read(tmp_path / "state.json") == State()


def test_nothing_is_remembered_of_a_new_directory(tmp_path: Path) -> None:
    assert read(tmp_path / "state.json") == State()


def test_a_changed_flag_or_file_changes_the_digest() -> None:
    base = digest({"etcd": ["--a"]}, {Path("f"): "x"})
    assert digest({"etcd": ["--b"]}, {Path("f"): "x"}) != base
    assert digest({"etcd": ["--a"]}, {Path("f"): "y"}) != base
    assert digest({"etcd": ["--a"]}, {Path("f"): "x"}) == base


def test_files_are_for_the_owner_alone(tmp_path: Path) -> None:
    replace_file(tmp_path / "secret", "x")
    replace_file(tmp_path / "secret", "y")
    assert (tmp_path / "secret").read_text() == "y"
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
