"""Imports archives into containerd with its own client, `ctr`.

Each imported image gets a label with the version of its archive. So an archive is imported once, and again after it
has changed under the same name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from steward.local.errors import ImportFailed
from steward.local.images.archives import ImageArchive
from steward.local.images.names import full_name
from steward.local.progress import Progress

_NAMESPACE = "k8s.io"  # the one that the kubelet sees
_VERSION = "steward.local/archive"
# containerd's own: the first shows the image to the kubelet, the second keeps its garbage collection away.
_CRI_LABELS = ("io.cri-containerd.image=managed", "io.cri-containerd.pinned=pinned")


@dataclass(frozen=True)
class Containerd:
    """`ctr` and the socket of the containerd that it talks to."""

    ctr: Path
    socket: Path

    async def run(self, *arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *(str(self.ctr), "-a", str(self.socket), "-n", _NAMESPACE, "images", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            output, errors = await process.communicate()
        except BaseException:
            process.kill()
            await process.wait()
            raise
        if process.returncode:
            raise CtrFailed(_last_line(errors.decode(errors="replace")))
        return output.decode()


class CtrFailed(Exception):
    """`ctr` ended with an error, whose last line this holds."""


async def import_archives(
    ctr: Path, socket: Path, archives: Iterable[ImageArchive], progress: Progress
) -> None:
    """Import the archives that this containerd does not have yet."""
    containerd = Containerd(ctr, socket)
    imported = await _versions(containerd)
    for archive in archives:
        if any(imported.get(name) != archive.version for name in archive.names):
            progress.report(f"importing {', '.join(archive.names)}")
            await _import(containerd, archive)


async def image_names(ctr: Path, socket: Path) -> set[str]:
    """The full names of all images that this containerd has."""
    listed = await _versions(Containerd(ctr, socket))
    # The kubelet's part of containerd also lists each image by its id.
    return {full_name(name) for name in listed if not name.startswith("sha256:")}


async def _import(containerd: Containerd, archive: ImageArchive) -> None:
    try:
        await containerd.run("import", str(archive.path))
        present = await _versions(containerd)
        for name in archive.names:
            await _name_image(containerd, name, present)
            await containerd.run("label", name, f"{_VERSION}={archive.version}", *_CRI_LABELS)
    except CtrFailed as error:
        raise ImportFailed(
            f"containerd cannot import {archive.path} ({error}): save the image again for this machine's processor."
        ) from None


async def _name_image(containerd: Containerd, name: str, present: Iterable[str]) -> None:
    """Name an image of an OCI archive in full: containerd keeps short names as they are, and the kubelet looks for
    full ones."""
    if name not in present:
        short = next((each for each in present if full_name(each) == name), name)
        await containerd.run("tag", short, name)


async def _versions(containerd: Containerd) -> Mapping[str, str]:
    """The versions of imported archives by image name; empty for images from elsewhere."""
    try:
        listed = await containerd.run("ls")
    except CtrFailed as error:
        raise ImportFailed(
            f"containerd on {containerd.socket} does not list its images ({error}): see the end of its log."
        ) from None
    return parse_images(listed)


def parse_images(listed: str) -> dict[str, str]:
    """`ctr images ls` prints a header and one image a line: name, type, digest, size, platforms, labels."""
    rows = [line.split() for line in listed.splitlines()[1:] if line.strip()]
    return {row[0]: _version_label(row[-1]) for row in rows}


def _version_label(labels: str) -> str:
    found = [label.partition("=")[2] for label in labels.split(",") if label.startswith(f"{_VERSION}=")]
    return found[0] if found else ""


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("ctr: ") if lines else "no reason given"
