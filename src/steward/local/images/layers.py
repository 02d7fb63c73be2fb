"""A layer of an image: files as a tar with fixed owners and times, so that equal files give equal bytes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

_FILE, _EXECUTABLE, _DIRECTORY = 0o644, 0o755, 0o755


@dataclass(frozen=True)
class LayerFile:
    """A file of the layer, copied from `source`; executable if `source` is."""

    path: str
    source: Path


@dataclass(frozen=True)
class LayerText:
    path: str
    text: str
    mode: int = _FILE


@dataclass(frozen=True)
class LayerLink:
    path: str
    target: str


@dataclass(frozen=True)
class LayerDirectory:
    path: str
    mode: int = _DIRECTORY


LayerEntry = LayerFile | LayerText | LayerLink | LayerDirectory


def tree_entries(root: Path) -> list[LayerEntry]:
    """The files and symbolic links below `root`."""
    return [_tree_entry(root, path) for path in root.rglob("*") if path.is_symlink() or path.is_file()]


def _tree_entry(root: Path, path: Path) -> LayerEntry:
    inside = str(path.relative_to(root))
    return LayerLink(inside, str(path.readlink())) if path.is_symlink() else LayerFile(inside, path)


def write_layer(entries: Iterable[LayerEntry], stream: BinaryIO) -> None:
    """Write a tar of `entries` and their parent directories, sorted by path."""
    by_path = {entry.path.strip("/"): entry for entry in entries}
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted({*by_path, *_parents(by_path)}):
            _add(tar, path, by_path.get(path) or LayerDirectory(path))


def _parents(paths: Iterable[str]) -> set[str]:
    return {str(parent) for path in paths for parent in PurePosixPath(path).parents if str(parent) != "."}


def _add(tar: tarfile.TarFile, path: str, entry: LayerEntry) -> None:
    header = tarfile.TarInfo(path)  # owner root, time zero
    match entry:
        case LayerFile(source=source):
            _add_file(tar, header, source)
        case LayerText(text=text, mode=mode):
            content = text.encode()
            header.mode, header.size = mode, len(content)
            tar.addfile(header, io.BytesIO(content))
        case LayerLink(target=target):
            header.type, header.linkname, header.mode = tarfile.SYMTYPE, target, 0o777
            tar.addfile(header)
        case LayerDirectory(mode=mode):
            header.type, header.mode = tarfile.DIRTYPE, mode
            tar.addfile(header)


def _add_file(tar: tarfile.TarFile, header: tarfile.TarInfo, source: Path) -> None:
    stat = source.stat()
    header.size = stat.st_size
    header.mode = _EXECUTABLE if stat.st_mode & 0o100 else _FILE
    with source.open("rb") as content:
        tar.addfile(header, content)
