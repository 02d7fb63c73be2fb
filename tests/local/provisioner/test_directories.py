from __future__ import annotations

from pathlib import Path

from steward.local.provisioner.directories import create_directory, delete_directory, delete_unused


def test_creating_and_deleting_can_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "volumes" / "pvc-1"
    for _ in range(2):
        create_directory(path)
    assert path.stat().st_mode & 0o777 == 0o755
    for _ in range(2):
        delete_directory(path)
    assert not path.exists()


def test_directories_with_data_or_a_volume_are_kept(tmp_path: Path) -> None:
    for name in ("pvc-empty", "pvc-known", "pvc-data"):
        (tmp_path / name).mkdir()
    (tmp_path / "pvc-data" / "file").touch()
    delete_unused(tmp_path, {"pvc-known"})
    assert {path.name for path in tmp_path.iterdir()} == {"pvc-known", "pvc-data"}
