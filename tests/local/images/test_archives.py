from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from steward.local.errors import BadImageArchive
from steward.local.images.archives import read_archive, read_directory
from tests.local.images.support.tars import docker_manifest, oci_index, write_tar

CONTAINERD, REF = "io.containerd.image.name", "org.opencontainers.image.ref.name"


@pytest.mark.parametrize(
    ("file", "content", "names"),
    [
        (
            "a.tar",
            docker_manifest("app:1", "ghcr.io/team/app:1"),
            ("docker.io/library/app:1", "ghcr.io/team/app:1"),
        ),
        ("a.tar.gz", docker_manifest("app:1"), ("docker.io/library/app:1",)),
        ("a.tgz", oci_index({REF: "ghcr.io/team/app:2"}), ("ghcr.io/team/app:2",)),
        ("a.tar", oci_index({CONTAINERD: "ghcr.io/team/app:2", REF: "2"}), ("ghcr.io/team/app:2",)),
        ("a.tar", oci_index({REF: "latest"}) | docker_manifest("app:1"), ("docker.io/library/app:1",)),
        (
            "a.tar",
            {f"./{name}": value for name, value in docker_manifest("app:1").items()},
            ("docker.io/library/app:1",),
        ),
    ],
)
def test_an_archive_is_known_by_the_names_that_it_contains(
    tmp_path: Path, file: str, content: dict[str, Any], names: tuple[str, ...]
) -> None:
    assert read_archive(write_tar(tmp_path / file, content)).names == names


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (docker_manifest(), "an image without a name: save it by its name and tag"),
        (oci_index({REF: "latest"}), "an image without a name: save it by its name and tag"),
        ({"layer.json": {}}, "holds neither manifest.json nor index.json"),
    ],
)
def test_an_archive_without_a_named_image_is_an_error_with_the_cure(
    tmp_path: Path, content: dict[str, Any], reason: str
) -> None:
    path = write_tar(tmp_path / "a.tar", content)
    with pytest.raises(BadImageArchive, match=f"{path} .*{reason}"):
        read_archive(path)


@pytest.mark.parametrize("content", [b"", b"no tar at all", b"\x1f\x8b broken", b"\x28\xb5\x2f\xfd zstd"])
def test_an_unreadable_archive_is_an_error_that_names_the_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(content)
    with pytest.raises(
        BadImageArchive, match=f"{path} is not a readable image archive .*: save the image again"
    ):
        read_archive(path)


def test_a_truncated_archive_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar.gz", docker_manifest("app:1"))
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(BadImageArchive, match=f"{path} is not a readable image archive"):
        read_archive(path)


def test_files_of_a_directory_that_are_no_archives_are_left_out(tmp_path: Path) -> None:
    write_tar(tmp_path / "b.tar", docker_manifest("b:1"))
    write_tar(tmp_path / "a.tgz", docker_manifest("a:1"))
    (tmp_path / "README").write_text("images")
    assert [archive.path.name for archive in read_directory(tmp_path)] == ["a.tgz", "b.tar"]


def test_a_directory_without_archives_is_an_error_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(BadImageArchive, match=r"has no file that ends with .*: save images into it"):
        read_directory(tmp_path)


def test_a_missing_directory_is_an_error_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(BadImageArchive, match=r"cannot be read \(No such file .*\): name an existing one"):
        read_directory(tmp_path / "missing")


def test_the_version_changes_with_the_file(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", docker_manifest("app:1"))
    before = read_archive(path).version
    os.utime(path, ns=(1, 1))
    assert read_archive(path).version != before
