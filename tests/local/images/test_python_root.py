"""The operators' image is what the Dockerfile makes, and runs as an unprivileged user."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.images import python_root, recipes
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

_CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin") or "chroot"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("root")
    directory.chmod(0o755)
    python_root.build(directory)
    yield directory
    subprocess.run(["rm", "-rf", directory], check=True, timeout=300)


def _run(root: Path, *command: str) -> str:
    assert os.geteuid() == 0, (
        "the image's programs run in a root directory of their own: run these tests as root"
    )
    search_path = dict(each.split("=", 1) for each in recipes.operators().settings.environment)
    done = subprocess.run(
        [_CHROOT, "--userspec=65532:65532", root, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=search_path,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _dockerfile(keyword: str) -> str:
    return re.findall(rf"^{keyword} (.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[-1]


def test_the_settings_are_those_of_the_dockerfile() -> None:
    settings = recipes.operators().settings
    environment = dict(each.split("=", 1) for each in settings.environment)
    written = dict(each.split("=", 1) for each in _dockerfile("ENV").split())
    assert settings.user == _dockerfile("USER")
    assert list(settings.entrypoint) == json.loads(_dockerfile("ENTRYPOINT"))
    assert list(settings.command) == json.loads(_dockerfile("CMD"))
    assert environment.pop("PATH").startswith(written.pop("PATH").removesuffix("$PATH"))
    assert environment == written


def test_the_command_runs_as_an_unprivileged_user(root: Path) -> None:
    assert _run(root, "steward", "--version").startswith("steward ")


def test_every_package_can_be_imported(root: Path) -> None:
    modules = "aiohttp, asyncmy, asyncpg, bcrypt, cryptography, grpc, msgspec, re2, sqlite3, ssl, yaml"
    assert _run(root, "python", "-c", f"import {modules}; print('ok')") == "ok\n"


def test_monitoring_files_come_with_the_package(root: Path) -> None:
    assert (root / "opt/steward").rglob("steward/install/monitoring_files/prometheus-rules.yaml")
    script = "from steward.install import monitoring; print(monitoring.directory())"
    assert (
        _run(root, "python", "-c", script).strip().endswith("/site-packages/steward/install/monitoring_files")
    )


def test_every_module_is_compiled_ahead(root: Path) -> None:
    sources = list((root / "opt").rglob("site-packages/steward/**/*.py"))
    missing = [path.name for path in sources if not list(path.parent.glob(f"__pycache__/{path.stem}.*.pyc"))]
    assert len(sources) > 300
    assert missing == []


def test_no_file_of_the_image_names_a_directory_of_this_machine(root: Path) -> None:
    own = [path for path in (root / "opt").rglob("*") if path.is_file() and "steward" in path.parts[-2:]]
    texts = [*own, *(root / "opt").rglob("steward-*.dist-info/*"), root / "opt/steward/pyvenv.cfg"]
    assert [path for path in texts if str(ROOT).encode() in path.read_bytes()] == []


def test_build_tools_are_not_in_the_image(root: Path) -> None:
    packages = {path.name for path in root.rglob("site-packages/*")}
    assert {"pip", "pytest", "mypy", "hatchling"}.isdisjoint(packages)
