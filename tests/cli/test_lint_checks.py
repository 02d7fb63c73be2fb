"""YAML checks of `steward lint`; tests/cli/commands/test_lint.py has the other checks."""

import pytest

from steward.cli.lint_checks import NO_MANIFEST, document_problems


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("metadata:\n  name: x\n  name: y\n", [(3, 3, "name is a duplicate key; the first is in line 2")]),
        ("a: 1\nb: 2\na: 3\n", [(3, 1, "a is a duplicate key; the first is in line 1")]),
        ("a: {b: 1}\nc: {b: 1}\n", []),
        ("base: &base {x: 1}\nother:\n  <<: *base\n  y: 2\n", []),
        ("just text\n", [(1, 1, NO_MANIFEST)]),
        ("---\n---\na: 1\n", []),
    ],
)
def test_duplicate_keys_and_documents_without_an_object_are_problems(
    text: str, problems: list[tuple[int, int, str]]
) -> None:
    assert [(*found.position, found.message) for found in document_problems(text)] == problems
