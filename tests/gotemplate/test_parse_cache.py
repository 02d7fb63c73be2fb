"""parse: function sets, profiles, the cache, and the public names."""

from __future__ import annotations

import pytest

import steward.gotemplate as package
from steward.gotemplate import ParseError, parse


def test_equal_arguments_give_the_same_template() -> None:
    assert parse("{{ .a }}") is parse("{{ .a }}")
    assert parse("{{ .a }}") is not parse("{{ .a }}", missingkey="zero")


def test_a_template_is_named_in_its_errors() -> None:
    with pytest.raises(ParseError, match=r"^template: deploy\.yaml:2: unexpected EOF$"):
        parse("\n{{ if 1 }}", "deploy.yaml")


@pytest.mark.parametrize("word", ["now", "uuidv4", "randAlpha", "genCA", "shuffle", "ago"])
def test_a_function_of_another_profile_is_refused_with_its_profile(word: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"{{{{ {word} }}}}")
    assert str(caught.value) == (
        f'template: template:1: function "{word}" not defined'
        ": it is in profile full, and this template has profile hermetic"
    )


@pytest.mark.parametrize("word", ["env", "expandenv", "getHostByName", "nonsense"])
@pytest.mark.parametrize("profile", ["hermetic", "full"])
def test_what_leaks_the_process_is_in_no_profile(word: str, profile: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"{{{{ {word} `HOME` }}}}", profile=profile)
    assert str(caught.value) == f'template: template:1: function "{word}" not defined'


def test_the_full_profile_has_clock_and_chance() -> None:
    assert parse("{{ randAlpha 8 | len }}{{ now | date `2006` | len }}", profile="full").render({}) == "84"


def test_sets_differ_in_their_functions() -> None:
    assert parse("{{ slice `abc` 1 2 }}", functions="builtins").render({}) == "b"
    with pytest.raises(ParseError, match='function "float" not defined'):
        parse("{{ float 1 }}")
    assert parse("{{ float `1.5` }}", functions="tenants").render({}) == "1.5"


@pytest.mark.parametrize("options", [{"functions": "x"}, {"profile": "x"}, {"missingkey": "x"}])
def test_an_unknown_option_is_a_value_error(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="x"):
        parse("", **options)


def test_the_public_names_are_sorted_and_there() -> None:
    assert sorted(package.__all__) == sorted(set(package.__all__))
    assert all(hasattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError):
        _ = package.nonsense
