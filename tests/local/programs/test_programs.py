from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from steward.local.errors import UnsupportedMachine
from steward.local.programs.programs import (
    CONTROL_PLANE,
    GO_SOURCES,
    KWOK,
    build_key,
    platform_name,
    required_go,
)
from tests.support.paths import ROOT

REGISTRY_HOST = re.compile(r"https?://|goproxy")


@pytest.mark.parametrize(
    ("system", "processor", "name"),
    [
        ("linux", "x86_64", "linux-amd64"),
        ("linux", "aarch64", "linux-arm64"),
        ("linux", "AMD64", "linux-amd64"),
    ],
)
def test_supported_platforms(system: str, processor: str, name: str) -> None:
    assert platform_name(system, processor) == name


@pytest.mark.parametrize(
    ("system", "processor"), [("darwin", "arm64"), ("linux", "riscv64"), ("win32", "AMD64")]
)
def test_an_unsupported_platform_is_an_error_with_the_cure(system: str, processor: str) -> None:
    with pytest.raises(UnsupportedMachine, match=rf"this is {system} on {processor}: use .* a virtual one"):
        platform_name(system, processor)


def test_the_key_names_version_and_platform_and_differs_by_program() -> None:
    assert build_key(CONTROL_PLANE, "linux-amd64").startswith("controlplane-1.36.3-linux-amd64-")
    assert build_key(KWOK, "linux-amd64").startswith("kwok-0.8.0-linux-amd64-")


def test_the_versions_in_the_table_are_those_of_the_go_module() -> None:
    module = (GO_SOURCES / "kubernetes" / "go.mod").read_text()
    assert f"k8s.io/kubernetes v{CONTROL_PLANE.version}" in module
    assert f"sigs.k8s.io/kwok v{KWOK.version}" in module
    assert "go.etcd.io/etcd/server/v3 v3.6.8" in module
    assert required_go(CONTROL_PLANE.source) >= (1, 26)


def test_the_go_sources_name_no_registry() -> None:
    for path in GO_SOURCES.rglob("*"):
        if path.is_file():
            assert not REGISTRY_HOST.search(path.read_text()), path


@pytest.mark.parametrize("name", ["base.txt", "dev.txt", "uv.txt"])
def test_the_locked_requirements_name_no_registry_and_pin_every_package(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    assert not REGISTRY_HOST.search(text)
    assert not re.search(r"^--", text, re.MULTILINE)
    pinned = re.findall(r"^[a-zA-Z0-9_.\[\]-]+==[^\n]*\n(\s+--hash)?", text, re.MULTILINE)
    assert pinned
    assert all(pinned)


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locked = set(
        re.findall(r"^([a-z0-9.-]+)==", (ROOT / "requirements" / "dev.txt").read_text(), re.MULTILINE)
    )
    required = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[^A-Za-z0-9._-]", line)[0].lower().replace("_", "-") for line in required}
    assert names <= locked


@pytest.mark.slow
def test_the_wheel_holds_the_go_sources(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=300,
    )
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        f"steward/local/programs/go/{path.relative_to(GO_SOURCES)}"
        for path in GO_SOURCES.rglob("*")
        if path.is_file()
    }
    assert "steward/local/programs/go/kubernetes/go.sum" in sources
    assert sources <= held
