"""The Dockerfile: its build context, and that everything it takes from outside is fixed by a hash."""

import re
import tomllib
from importlib import metadata

from packaging.requirements import Requirement

from tests.support.paths import ROOT


def test_dockerignore_admits_every_path_that_the_dockerfile_copies() -> None:
    copies = re.findall(r"^COPY (?!--from)(.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    copied = [source for line in copies for source in line.split()[:-1]]
    admitted = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")
    }
    assert copied
    assert [path for path in copied if path not in admitted] == []


def test_the_base_image_is_named_by_digest() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${BASE}", "${BASE}"]
    assert re.search(r"^ARG BASE=python:3\.11-slim@sha256:[0-9a-f]{64}$", text, re.MULTILINE)


def test_nothing_is_installed_without_a_hash() -> None:
    installs = re.findall(r"pip --python \S+ (?:install|wheel) [^\n]+", (ROOT / "Dockerfile").read_text())
    unchecked = [line for line in installs if "--require-hashes" not in line]
    assert len(installs) == 4
    assert [line for line in unchecked if not {"--no-deps", "--no-index"} <= {*line.split()}] == [
        line for line in unchecked if "--no-build-isolation" in line
    ]


def test_the_build_requirements_are_locked_with_all_their_dependencies() -> None:
    lock = (ROOT / "requirements" / "build.txt").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    required = [re.split(r"[<>=]", each)[0] for each in project["build-system"]["requires"]]
    pinned = re.findall(r"^([a-z0-9-]+)==\S+ \\\n    --hash=sha256:", lock, re.MULTILINE)
    assert set(required) <= set(pinned)
    assert len(pinned) == len(re.findall(r"^[a-z]", lock, re.MULTILINE))
    assert set(pinned) >= _dependencies("hatchling")


def test_development_builds_with_the_same_backend_as_the_image() -> None:
    def version(file: str) -> str:
        found = re.search(r"^hatchling==(\S+)", (ROOT / "requirements" / file).read_text(), re.MULTILINE)
        assert found
        return found[1]

    assert version("dev.txt") == version("build.txt")


def _dependencies(package: str) -> set[str]:
    """The names of all packages that a package needs, its own included."""
    found: set[str] = set()
    missing = [package]
    while missing:
        name = missing.pop()
        found.add(name)
        requirements = [Requirement(text) for text in metadata.requires(name) or []]
        needed = [
            each.name for each in requirements if not each.marker or each.marker.evaluate({"extra": ""})
        ]
        missing += [each for each in needed if each not in found]
    return found
