"""The design pages name packages, modules and functions that exist."""

import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "steward"
PAGES = sorted((ROOT / "docs" / "design").glob("*.md"))
_MODULE = re.compile(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`")
_PACKAGE_LINE = re.compile(r"^( +)([a-z_]+)(/|\.py) ", re.MULTILINE)
_BASES = (ROOT, SOURCE, ROOT / "tests", SOURCE / "multigres", SOURCE / "tenants", SOURCE / "runtime")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    named = set(_MODULE.findall(page.read_text()))
    assert [path for path in sorted(named) if not any((base / path).is_file() for base in _BASES)] == []


def tree_entries() -> list[str]:
    """The paths of the tree that the developer guide draws, by its indentation."""
    text = (
        (ROOT / "docs" / "design" / "README.md").read_text().split("src/steward/\n", 1)[1].split("```", 1)[0]
    )
    parent, entries = "", []
    for indent, name, suffix in _PACKAGE_LINE.findall(text):
        parent = parent if len(indent) > 2 else ""
        entries.append(f"{parent}{name}{suffix}")
        parent = f"{name}/" if len(indent) == 2 else parent
    return entries


def test_the_developer_guide_draws_every_package_of_the_first_two_levels() -> None:
    packages = {f"{path.parent.name}/" for path in SOURCE.glob("*/__init__.py")}
    nested = {
        f"{path.parent.parent.name}/{path.parent.name}/"
        for package in ("kube", "runtime", "multigres", "tenants", "gotemplate")
        for path in SOURCE.glob(f"{package}/*/__init__.py")
    }
    drawn = set(tree_entries())
    assert packages | nested <= drawn
    assert [entry for entry in drawn if not (SOURCE / entry).exists()] == []


def test_the_functions_that_the_walks_name_exist() -> None:
    text = (ROOT / "docs" / "design" / "where-to-change.md").read_text()
    names = set(re.findall(r"`(_?[A-Za-z][A-Za-z_]+)(?:\(\))?`", text)) - {"OnDelete", "restricted"}
    code = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    assert names
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", code)] == []


def test_a_walk_needs_at_most_five_files() -> None:
    text = (ROOT / "docs" / "design" / "where-to-change.md").read_text()
    walks = text.split("\n## ")[1:]
    assert len(walks) == 5
    assert [
        walk.splitlines()[0] for walk in walks if len(re.findall(r"^\d+\. ", walk, re.MULTILINE)) > 5
    ] == []
