"""The format of postgresql.conf."""

import pytest

from steward.multigres.resolution.postgres.conf_format import format_settings, parse_settings


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a = 5", "5"),
        ("a=5 # five", "5"),
        ("A 'five'", "five"),
        ("a = 'it''s'", "it's"),
        (r"a = 'it\'s \\ \n \101'", "it's \\ \n A"),
        ("a = 1\na = 2", "2"),
        ("a = '# no comment' # one", "# no comment"),
    ],
)
def test_a_value_is_read_as_postgres_reads_it(text: str, value: str) -> None:
    assert parse_settings(text) == {"a": value}


@pytest.mark.parametrize("text", ["", "# a = 5", "a", "a =", "a = 'open", "5 = a"])
def test_lines_that_are_no_settings_are_left_to_postgres(text: str) -> None:
    assert parse_settings(text) == {}


@pytest.mark.parametrize("value", ["8MB", "it's", "a\\b", "", "100%", "a, b", "#"])
def test_written_settings_are_read_back(value: str) -> None:
    assert parse_settings(format_settings({"a": value, "b.c": 5})) == {"a": value, "b.c": "5"}
