"""The check of names against the vocabulary."""

from pathlib import Path

import pytest

from steward.docgen.vocabulary import RetiredWords, main, read_page, retired_names
from tests.support.paths import ROOT

RETIRED = RetiredWords(frozenset({"farewell", "news"}), frozenset({"look"}))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Farewell", "farewell"),
        ("plan_farewell", "farewell"),
        ("HTTPNews2", "news"),
        ("_look", "look"),
        ("look_up", ""),
        ("newsletter", ""),
    ],
)
def test_a_retired_word_is_found_as_a_word_of_a_name(name, word):
    assert RETIRED.find(name) == word


def test_modules_classes_and_functions_are_checked(tmp_path: Path):
    file = tmp_path / "news.py"
    file.write_text("class Farewell:\n    def look(self):\n        news = 1\n        return news\n")
    found = retired_names([file], RETIRED)
    assert [(each.name, each.word) for each in found] == [
        ("news", "news"),
        ("Farewell", "farewell"),
        ("look", "look"),
    ]
    assert str(found[1]).startswith(f"{file}:1: Farewell uses the retired word 'farewell'")


def test_a_page_without_its_lists_is_an_error():
    with pytest.raises(ValueError, match="lacks the heading"):
        read_page("# Vocabulary\n")


@pytest.mark.slow
def test_the_page_lists_words_and_no_name_uses_them(capsys):
    retired = read_page((ROOT / "docs/design/vocabulary.md").read_text())
    assert "told" in retired.in_any_part
    assert "of" in retired.as_a_whole
    assert main(ROOT) == 0, capsys.readouterr().err
