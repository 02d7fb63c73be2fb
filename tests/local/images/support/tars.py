"""Archives as other tools write them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any


def write_tar(path: Path, files: dict[str, Any]) -> Path:
    """A tar of JSON files, compressed if the name of `path` ends with `gz`."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name, value in files.items():
            data = json.dumps(value).encode()
            header = tarfile.TarInfo(name)
            header.size = len(data)
            tar.addfile(header, io.BytesIO(data))
    data = content.getvalue()
    path.write_bytes(gzip.compress(data) if path.name.endswith("gz") else data)
    return path


def docker_manifest(*names: str) -> dict[str, Any]:
    return {"manifest.json": [{"Config": "c.json", "RepoTags": list(names), "Layers": ["layer.tar"]}]}


def oci_index(*annotations: dict[str, str]) -> dict[str, Any]:
    manifests = [
        {"digest": f"sha256:{number}", "annotations": each} for number, each in enumerate(annotations)
    ]
    return {"oci-layout": {"imageLayoutVersion": "1.0.0"}, "index.json": {"manifests": manifests}}
