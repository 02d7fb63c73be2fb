"""The software bill of materials names everything that the image installs, and the same input gives the same file."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

pytestmark = pytest.mark.slow


def written(file: Path, *settings: str) -> bytes:
    """`make` validates the file against the schema of CycloneDX and fails otherwise."""
    done = subprocess.run(
        ["make", "--no-print-directory", "sbom", f"SBOM={file}", *settings],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return file.read_bytes()


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(tmp_path_factory.mktemp("sbom") / "steward.cdx.json")


def content(document: bytes) -> dict[str, Any]:
    return json.loads(document)  # type: ignore[no-any-return]


def test_it_is_a_cyclonedx_document_about_this_version(document: bytes) -> None:
    bom = content(document)
    assert bom["bomFormat"] == "CycloneDX"
    about = bom["metadata"]["component"]
    assert (about["name"], about["type"]) == ("steward", "application")
    assert f'version = "{about["version"]}"' in (ROOT / "pyproject.toml").read_text()


def test_it_names_every_locked_requirement_of_the_image_with_its_hashes(document: bytes) -> None:
    lock = (ROOT / "requirements" / "base.txt").read_text()
    locked = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", lock, re.MULTILINE))
    components = content(document)["components"]
    assert {each["name"]: each["version"] for each in components} == locked
    hashes = [each["externalReferences"][0]["hashes"] for each in components]
    assert sum(map(len, hashes)) == lock.count("--hash=sha256:")


def test_the_same_requirements_give_the_same_bytes(document: bytes, tmp_path: Path) -> None:
    # The first document is valid, so an equal one is.
    assert written(tmp_path / "again.json", "SBOM_VALIDATION=--no-validate") == document


def test_it_has_no_path_of_the_machine_that_made_it(document: bytes) -> None:
    assert str(ROOT).encode() not in document
