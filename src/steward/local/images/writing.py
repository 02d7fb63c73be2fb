"""Writes a docker-archive with one layer. The same files and settings give the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from steward.local.images.layers import LayerEntry, write_layer
from steward.local.programs.programs import platform_name

_BLOCK = 1024**2


@dataclass(frozen=True)
class ImageSettings:
    """How containers of the image start: the fields of a Dockerfile."""

    entrypoint: tuple[str, ...]
    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    user: str = ""
    directory: str = "/"


def write_archive(target: Path, name: str, settings: ImageSettings, entries: Iterable[LayerEntry]) -> None:
    """Write an archive of one image to `target`."""
    with tempfile.TemporaryFile(dir=target.parent) as layer, target.open("wb") as output:
        write_layer(entries, layer)
        config = _config(settings, _digest(layer))
        config_name = f"{hashlib.sha256(config).hexdigest()}.json"
        manifest = [{"Config": config_name, "RepoTags": [name], "Layers": ["layer.tar"]}]
        with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
            _add(archive, "manifest.json", io.BytesIO(_json(manifest)))
            _add(archive, config_name, io.BytesIO(config))
            _add(archive, "layer.tar", layer)


def _digest(layer: BinaryIO) -> str:
    layer.seek(0)
    digest = hashlib.sha256()
    while block := layer.read(_BLOCK):
        digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def _config(settings: ImageSettings, layer_digest: str) -> bytes:
    started = {
        "Entrypoint": list(settings.entrypoint),
        "Cmd": list(settings.command),
        "Env": list(settings.environment),
        "User": settings.user,
        "WorkingDir": settings.directory,
    }
    system, _, architecture = platform_name().partition("-")
    return _json(
        {
            "architecture": architecture,
            "os": system,
            "config": {key: value for key, value in started.items() if value},
            "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
            "history": [{"created_by": "steward"}],
        }
    )


def _add(archive: tarfile.TarFile, name: str, content: BinaryIO) -> None:
    header = tarfile.TarInfo(name)
    header.size = content.seek(0, io.SEEK_END)
    content.seek(0)
    archive.addfile(header, content)


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
