from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.settings import Topology
from steward.local.state import State, digest, read, replace_file, write


def test_a_written_state_is_read(tmp_path: Path) -> None:
    state = State({"etcd": 1234}, "abc", Topology(5, ("a", "b")))
    write(tmp_path / "state.json", state)
    assert read(tmp_path / "state.json") == state


@pytest.mark.parametrize(
    "damaged", ["", "{", "[]", '{"ports": 1}', '{"ports": {}}', '{"ports": {"a": "x"}, "digest": ""}']
)
def test_a_damaged_file_is_an_empty_state(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "state.json").write_text(damaged)
    assert read(tmp_path / "state.json") == State()


def test_a_new_directory_has_an_empty_state(tmp_path: Path) -> None:
    assert read(tmp_path / "state.json") == State()


def test_a_changed_flag_or_file_changes_the_digest() -> None:
    base = digest({"etcd": ["--a"]}, {Path("f"): "x"})
    assert digest({"etcd": ["--b"]}, {Path("f"): "x"}) != base
    assert digest({"etcd": ["--a"]}, {Path("f"): "y"}) != base
    assert digest({"etcd": ["--a"]}, {Path("f"): "x"}) == base


def test_files_are_readable_by_the_owner_only(tmp_path: Path) -> None:
    replace_file(tmp_path / "secret", "x")
    replace_file(tmp_path / "secret", "y")
    assert (tmp_path / "secret").read_text() == "y"
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
