"""The directories of volumes."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path


def create_directory(path: Path) -> None:
    """Owned by root, as a new file system is: pods of other users need an fsGroup."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o755)


def delete_directory(path: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(path)


def delete_unused(directory: Path, volumes: Collection[str]) -> None:
    """Delete empty directories without a volume: the provisioner ended before it had created the volume.

    Others may hold data of a retained volume whose object the user has deleted.
    """
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.name not in volumes:
            with suppress(OSError):
                path.rmdir()
