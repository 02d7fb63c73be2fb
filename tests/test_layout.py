"""Rules for the layout of the code and of its tests."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

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
_WAITS_FOR_PROCESS = frozenset({"wait", "communicate"})


def _is_unlimited(node: ast.Call) -> bool:
    """Whether the call waits for a process without a limit. An awaited one has the limit of `asyncio.timeout`."""
    if not isinstance(node.func, ast.Attribute):
        return False
    if any(keyword.arg in ("timeout", None) for keyword in node.keywords):
        return False
    if ast.unparse(node.func.value) == "subprocess":
        return node.func.attr in _STARTS_PROCESS
    return node.func.attr in _WAITS_FOR_PROCESS and not node.args


def unlimited_waits(text: str) -> list[int]:
    """The lines of the text that wait for a process without a limit."""
    # Only files that start processes: events of threads and of asyncio have a method `wait` too.
    if "subprocess." not in text and ".start(" not in text:
        return []
    nodes = list(ast.walk(ast.parse(text)))
    coroutines = {id(inner) for node in nodes for inner in _coroutines(node)}
    return [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Call) and id(node) not in coroutines and _is_unlimited(node)
    ]


def _coroutines(node: ast.AST) -> Iterator[ast.AST]:
    """Calls that are awaited, or passed to another call: `await event.wait()`, `wait_for(event.wait(), 5)`."""
    if isinstance(node, ast.Await):
        yield node.value
    elif isinstance(node, ast.Call):
        yield from node.args


def test_every_process_that_a_test_waits_for_has_a_time_limit() -> None:
    """A process that waits for ever would keep the whole run from ending."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in _python_files(TESTS)
        for line in unlimited_waits(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    "call",
    [
        "subprocess.run(command, check=True)",
        "subprocess.check_output(command)",
        "process.wait()",
        "assert process.wait() == 0",
        "output, error = process.communicate()",
    ],
)
def test_a_wait_without_a_limit_is_found(call: str) -> None:
    assert unlimited_waits(f"process = subprocess.Popen(command)\n{call}\n") == [2]


@pytest.mark.parametrize(
    "call",
    [
        "subprocess.run(command, check=True, timeout=60)",
        "subprocess.run(command, **options)",
        "process.wait(timeout=60)",
        "process.wait(60)",
        "await event.wait()",
        "await asyncio.wait_for(event.wait(), 5)",
    ],
)
def test_a_wait_with_a_limit_is_not_found(call: str) -> None:
    assert unlimited_waits(f"subprocess.Popen(command)\nasync def test() -> None:\n    {call}\n") == []
