"""Reads image archives: docker-archives (`docker save`) and OCI archives, plain or compressed with gzip.

An archive is known by the names that it contains; the name of its file means nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steward.local.errors import BadImageArchive
from steward.local.images.names import full_name

_SUFFIXES = (".tar", ".tgz", ".tar.gz")
_MANIFEST, _INDEX = "manifest.json", "index.json"
# In the order of preference: containerd writes the first, other tools the second.
_NAME_ANNOTATIONS = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_LIMIT = 16 * 1024**2  # of one JSON file
_READ_ERRORS = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, OSError, ValueError)


@dataclass(frozen=True)
class ImageArchive:
    """One archive: `version` changes with its content; `names` are full names."""

    path: Path
    names: tuple[str, ...]
    version: str


def read_directory(directory: Path) -> list[ImageArchive]:
    """The archives in `directory`, in the order of their file names."""
    try:
        files = sorted(path for path in directory.iterdir() if path.name.endswith(_SUFFIXES))
    except OSError as error:
        raise BadImageArchive(
            f"The image directory {directory} cannot be read ({error.strerror}): name an existing one "
            f"with --images."
        ) from None
    if not files:
        raise BadImageArchive(
            f"The image directory {directory} has no file that ends with {', '.join(_SUFFIXES)}: save images "
            f"into it, as `docker save -o {directory}/NAME.tar NAME` does, or leave out --images."
        )
    return [read_archive(path) for path in files]


def read_archive(path: Path) -> ImageArchive:
    try:
        documents = _read_documents(path)
        names = _names(documents)
        version = _version(path)
    except _READ_ERRORS as error:
        raise BadImageArchive(
            f"{path} is not a readable image archive ({error}): save the image again, uncompressed or with gzip."
        ) from None
    if not documents:
        raise BadImageArchive(
            f"{path} holds neither {_MANIFEST} nor {_INDEX} and so no image: save the image again with "
            f"`docker save` or as an OCI archive."
        )
    if not names:
        raise BadImageArchive(
            f"{path} holds an image without a name: save it by its name and tag, not by its id."
        )
    return ImageArchive(path, names, version)


def _version(path: Path) -> str:
    """From size and time: reading gigabytes for a checksum would delay every start."""
    stat = path.stat()
    return hashlib.sha256(f"{path.name} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:16]


def _read_documents(path: Path) -> dict[str, Any]:
    """The JSON files at the top of the archive that name its images."""
    found: dict[str, Any] = {}
    with path.open("rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
    # A stream for gzip: seeking backwards in it would decompress it again.
    with tarfile.open(path, "r|gz" if is_compressed else "r:") as archive:
        for member in archive:
            name = member.name.removeprefix("./")
            if name in {_MANIFEST, _INDEX} and member.isfile() and member.size <= _LIMIT:
                content = archive.extractfile(member)
                found[name] = json.load(content) if content is not None else None
    return found


def _names(documents: dict[str, Any]) -> tuple[str, ...]:
    # containerd reads index.json where both exist; newer versions of docker write both.
    index, manifest = documents.get(_INDEX), documents.get(_MANIFEST)
    names = _index_names(index) if isinstance(index, dict) else []
    if not names and isinstance(manifest, list):
        names = [tag for image in manifest for tag in image.get("RepoTags") or ()]
    return tuple(dict.fromkeys(map(full_name, names)))


def _index_names(index: dict[str, Any]) -> list[str]:
    annotations = [entry.get("annotations") or {} for entry in index.get("manifests") or ()]
    names = [next((each[key] for key in _NAME_ANNOTATIONS if each.get(key)), "") for each in annotations]
    # A tag alone names no image.
    return [name for name in names if "/" in name or ":" in name]
