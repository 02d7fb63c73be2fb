"""Which calls of `ctr` an import makes. The real containerd is in the end-to-end tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.errors import ImportFailed
from steward.local.images.archives import ImageArchive
from steward.local.images.importing import image_names, import_archives, parse_images
from steward.local.progress import SilentProgress

HEADER = "REF TYPE DIGEST SIZE PLATFORMS LABELS\n"
ROW = "{name} application/vnd.oci.image.manifest.v1+json sha256:1 5.6 MiB linux/amd64 {labels}\n"
SOCKET = Path("/run/containerd.sock")


def _row(name: str, version: str = "") -> str:
    labels = f"io.cri-containerd.image=managed,steward.local/archive={version}" if version else "-"
    return ROW.format(name=name, labels=labels)


class Ctr:
    """A `ctr` that prints `listed` and records how it was called."""

    def __init__(self, directory: Path, *rows: str, failure: str = "") -> None:
        self._calls = directory / "calls"
        self._calls.touch()
        (directory / "listed").write_text(HEADER + "".join(rows))
        self.path = directory / "ctr"
        self.path.write_text(
            f'#!/bin/sh\nshift 5\necho "$@" >> {self._calls}\n'
            f'[ "$1" != ls ] || exec cat {directory / "listed"}\n'
            + (f'[ "$1" != import ] || {{ echo "ctr: {failure}" >&2; exit 1; }}\n' if failure else "")
        )
        self.path.chmod(0o755)

    def calls(self) -> list[str]:
        return [line for line in self._calls.read_text().splitlines() if line != "ls"]


def _archive(version: str = "v1") -> ImageArchive:
    return ImageArchive(Path("/images/app.tar"), ("docker.io/library/app:1",), version)


def test_the_listing_gives_names_and_versions() -> None:
    assert parse_images(HEADER + _row("a/b:1", "v1") + _row("c/d:1")) == {"a/b:1": "v1", "c/d:1": ""}


async def test_an_archive_that_is_not_there_is_imported_and_labelled(tmp_path: Path) -> None:
    ctr = Ctr(tmp_path, _row("docker.io/library/app:1"))
    await import_archives(ctr.path, SOCKET, [_archive()], SilentProgress())
    assert ctr.calls() == [
        "import /images/app.tar",
        "label docker.io/library/app:1 steward.local/archive=v1 io.cri-containerd.image=managed "
        "io.cri-containerd.pinned=pinned",
    ]


async def test_an_imported_archive_is_not_imported_again(tmp_path: Path) -> None:
    ctr = Ctr(tmp_path, _row("docker.io/library/app:1", "v1"))
    await import_archives(ctr.path, SOCKET, [_archive()], SilentProgress())
    assert ctr.calls() == []


async def test_a_changed_archive_is_imported_again(tmp_path: Path) -> None:
    ctr = Ctr(tmp_path, _row("docker.io/library/app:1", "v1"))
    await import_archives(ctr.path, SOCKET, [_archive("v2")], SilentProgress())
    assert "import /images/app.tar" in ctr.calls()


async def test_an_image_with_a_short_name_gets_its_full_name(tmp_path: Path) -> None:
    ctr = Ctr(tmp_path, _row("app:1"))
    await import_archives(ctr.path, SOCKET, [_archive()], SilentProgress())
    assert "tag app:1 docker.io/library/app:1" in ctr.calls()


async def test_a_failed_import_names_the_archive(tmp_path: Path) -> None:
    ctr = Ctr(tmp_path, failure="unsupported platform")
    with pytest.raises(ImportFailed, match=r"cannot import /images/app.tar \(unsupported platform\): save"):
        await import_archives(ctr.path, SOCKET, [_archive()], SilentProgress())


async def test_ids_are_no_names_of_images(tmp_path: Path) -> None:
    ctr = Ctr(tmp_path, _row("app:1"), _row("sha256:4bc3"))
    assert await image_names(ctr.path, SOCKET) == {"docker.io/library/app:1"}
