from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

from steward.local.images.archives import read_archive
from steward.local.images.layers import LayerText
from steward.local.images.writing import ImageSettings, write_archive

SETTINGS = ImageSettings(("/app",), ("serve",), ("A=1",), "65532:65532")


def test_a_written_archive_is_read_by_its_name(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tar", "app:1", SETTINGS, [LayerText("app", "x", 0o755)])
    assert read_archive(tmp_path / "a.tar").names == ("docker.io/library/app:1",)


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.tar", "b.tar"):
        write_archive(tmp_path / name, "app:1", SETTINGS, [LayerText("app", "x", 0o755)])
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_the_configuration_names_its_layer_and_how_to_start(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tar", "app:1", SETTINGS, [LayerText("app", "x", 0o755)])
    with tarfile.open(tmp_path / "a.tar") as tar:
        contents = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    [manifest] = json.loads(contents["manifest.json"])
    config = json.loads(contents[manifest["Config"]])
    assert manifest["Config"] == f"{hashlib.sha256(contents[manifest['Config']]).hexdigest()}.json"
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(contents['layer.tar']).hexdigest()}"]
    assert config["config"] == {
        "Entrypoint": ["/app"],
        "Cmd": ["serve"],
        "Env": ["A=1"],
        "User": "65532:65532",
        "WorkingDir": "/",
    }
