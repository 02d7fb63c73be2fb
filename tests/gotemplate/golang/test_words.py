"""Case, words and paths."""

import pytest

from steward.gotemplate.golang import paths, unicode, words, xstrings


@pytest.mark.parametrize(
    ("text", "upper", "lower"),
    [("ß", "ß", "ß"), ("İ", "İ", "i"), ("ΑΣ", "ΑΣ", "ασ"), ("ᾀ", "ᾈ", "ᾀ"), ("ǆ", "Ǆ", "ǆ"), ("ﬁ", "ﬁ", "ﬁ")],
)
def test_case_maps_one_rune_to_one(text: str, upper: str, lower: str) -> None:
    assert (unicode.upper(text), unicode.lower(text)) == (upper, lower)


def test_title_case_takes_an_apostrophe_for_a_separator() -> None:
    assert words.title("it's a_b é\udcff") == "It'S A_b É\ufffd"


def test_bytes_are_read_as_latin1_by_initials_and_nospace() -> None:
    assert words.initials("ab éc") == "aÃ"
    assert words.delete_white_space("é") == "é"
    assert words.delete_white_space("é x") == "Ã©x"


def test_swapping_case_makes_titles_of_words() -> None:
    assert words.swap_case("Hello wORLD") == "hELLO World"
    assert words.untitle("Hello World") == "hello world"


@pytest.mark.parametrize(
    ("offset", "width", "text"), [(0, 8, "1234 ..."), (5, 10, "...5678..."), (20, 8, "... 9123"), (5, 6, "")]
)
def test_abbreviation_puts_dots_where_it_cuts(offset: int, width: int, text: str) -> None:
    assert words.abbreviate("1234 5678 9123", offset, width) == text


def test_wrapping_breaks_at_blanks_and_long_words_only_if_asked() -> None:
    assert words.wrap("ab cdefgh ij", 3, "", break_long_words=False) == "ab\ncdefgh\nij"
    assert words.wrap("ab cdefgh", 3, "|", break_long_words=True) == "ab|cde|fgh"


@pytest.mark.parametrize(
    ("text", "pascal", "snake"),
    [
        ("FirstName", "FirstName", "first_name"),
        ("HTTPServer", "Httpserver", "http_server"),
        ("http2xx", "Http2xx", "http_2xx"),
        ("Bld4Floor3rd", "Bld4Floor3rd", "bld4_floor_3rd"),
        ("_complex__case_", "_Complex_Case_", "_complex__case_"),
        ("some words-here", "SomeWordsHere", "some_words_here"),
        ("__", "___", "__"),
        ("", "", ""),
    ],
)
def test_words_are_split_as_xstrings_does(text: str, pascal: str, snake: str) -> None:
    assert (xstrings.pascal_case(text), xstrings.snake_case(text)) == (pascal, snake)
    assert xstrings.kebab_case(text) == snake.replace("_", "-")


@pytest.mark.parametrize(
    ("path", "clean", "base", "directory", "extension"),
    [
        ("", ".", ".", ".", ""),
        ("/", "/", "/", "/", ""),
        ("a/../../b", "../b", "b", "..", ""),
        ("/../a//b.tar.gz", "/a/b.tar.gz", "b.tar.gz", "/a", ".gz"),
        ("a/b/", "a/b", "b", "a/b", ""),
    ],
)
def test_paths(path: str, clean: str, base: str, directory: str, extension: str) -> None:
    assert (paths.clean(path), paths.base(path)) == (clean, base)
    assert (paths.directory(path), paths.extension(path)) == (directory, extension)
