"""Problems of the YAML of a file, whatever kinds are in it."""

import pytest

from steward.cli.documents import parse_documents
from steward.cli.lint.yaml_problems import NO_MANIFEST, yaml_problems


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("metadata:\n  name: x\n  name: z\n", [(3, 3, "name is a duplicate key; the first is in line 2")]),
        ("a: 1\nb: 2\na: 3\n", [(3, 1, "a is a duplicate key; the first is in line 1")]),
        ("a: {b: 1}\nc: {b: 1}\n", []),
        ("base: &base {x: 1}\nother:\n  <<: *base\n  z: 2\n", []),
        ("just text\n", [(1, 1, NO_MANIFEST)]),
        ("---\n---\na: 1\n", []),
    ],
)
def test_duplicate_keys_and_documents_without_an_object_are_problems(
    text: str, problems: list[tuple[int, int, str]]
) -> None:
    assert [(*found.position, found.message) for found in yaml_problems(text)] == problems


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("a: y\n", [(1, 4, "warning", 'y is read as true: write true, or "y" for the text')]),
        ("a: [Off]\n", [(1, 5, "warning", 'Off is read as false: write false, or "Off" for the text')]),
        ("n: x\n", [(1, 1, "error", 'the name n is read as false: write "n"')]),
        ("'n': \"yes\"\nb: |\n  no\n", []),
        ("a: yEs\nb: true\nc: yellow\n", []),
    ],
)
def test_bare_words_that_kubectl_reads_as_booleans_are_reported(
    text: str, problems: list[tuple[int, int, str, str]]
) -> None:
    assert [(*found.position, found.severity, found.message) for found in yaml_problems(text)] == problems


def test_a_file_is_read_as_kubectl_reads_it() -> None:
    [document] = parse_documents("f", "n: y\n2: 2020-01-02\ntrue: Off\ntext: 'no'\n")
    assert document.manifest == {"false": True, "2": "2020-01-02", "true": False, "text": "no"}
