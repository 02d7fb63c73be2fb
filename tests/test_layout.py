"""Rules for the layout of the code and of its tests."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.support.paths import ROOT, TESTS

SOURCES = ROOT / "src" / "steward"
MAX_MODULES = 22
MAX_LINES = 400
# Folders of tests that mirror no package: helpers, and tests of several packages together.
NOT_MIRRORED = frozenset(
    {
        "support",
        "integration",
        "crashes",
        "conformance",
        "bench",
        "attacks",
        "chaos",
        "e2e",
        "mutation",
        "mysql",
    }
)


def _python_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)


# Only these files are parsed: parsing all of them takes seconds.
_MAY_IMPORT_TESTS = re.compile(r"^\s*(?:from|import) tests\b.*(?:\btest_|\bconftest|\($)", re.MULTILINE)


def _imported_modules(path: Path) -> Iterator[str]:
    text = path.read_text()
    if not _MAY_IMPORT_TESTS.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_test_module(imported: str) -> bool:
    package, *parts = imported.split(".")
    return package == "tests" and any(
        part == "conftest" or (TESTS.joinpath(*parts[:depth]) / f"{part}.py").is_file()
        for depth, part in enumerate(parts)
        if part == "conftest" or part.startswith("test_")
    )


def test_nothing_imports_from_a_test_module_or_a_conftest() -> None:
    """Shared helpers live in `support` folders: an imported test module would be collected and set up twice."""
    found = [
        f"{path.relative_to(ROOT)}: {imported}"
        for root in (TESTS, ROOT / "bench", SOURCES)
        for path in _python_files(root)
        for imported in _imported_modules(path)
        if _is_test_module(imported)
    ]
    assert found == []


def test_folders_of_tests_mirror_the_packages() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    mirrors = {folder for folder in folders if not NOT_MIRRORED.intersection(folder.parts)}
    assert sorted(str(folder) for folder in mirrors if not (SOURCES / folder).is_dir()) == []


def test_no_package_holds_too_many_modules() -> None:
    counts = Counter(path.parent for path in _python_files(SOURCES) if not path.name.startswith("__"))
    assert {str(folder): count for folder, count in counts.items() if count > MAX_MODULES} == {}


def test_no_file_is_too_long() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in _python_files(SOURCES)}
    assert {str(path.relative_to(ROOT)): count for path, count in lines.items() if count > MAX_LINES} == {}


_STARTS_PROCESS = frozenset({"run", "call", "check_call", "check_output"})


def _is_unlimited(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if ast.unparse(node.func.value) != "subprocess" or node.func.attr not in _STARTS_PROCESS:
        return False
    return not any(keyword.arg in ("timeout", None) for keyword in node.keywords)


def test_every_process_that_a_test_waits_for_has_a_time_limit() -> None:
    """A process that waits for ever would keep the whole run from ending."""
    texts = {path: path.read_text() for path in _python_files(TESTS)}
    found = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for path, text in texts.items()
        if "subprocess." in text
        for node in ast.walk(ast.parse(text))
        if _is_unlimited(node)
    ]
    assert found == []
