"""encoding/json."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.json.common_values import marshal_plain
from steward.gotemplate.golang.json.decode import unmarshal
from steward.gotemplate.golang.json.encode import Writer, marshal
from steward.gotemplate.golang.json.scalars import COMPACT, PRETTY, RAW, Style, format_float
from steward.gotemplate.values.values import ByteSlice, Int64, StringSlice, nil_list


def free(_: int) -> None:
    return None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [None, True, 2.5], "é": {}}, '{"a":[null,true,2.5],"b":1,"é":{}}'),
        ("<a>&\u2028\x00\x7f\n\udcff", r'"\u003ca\u003e\u0026\u2028\u0000' + "\x7f" + r'\n\ufffd"'),
        ([], "[]"),
        (nil_list(), "null"),
        (StringSlice(["x"]), '["x"]'),
        (ByteSlice(b"hi"), '"aGk="'),
        (Int64(5), "5"),
    ],
)
def test_values_become_json(value: object, text: str) -> None:
    assert marshal(value, COMPACT, free) == text


def test_raw_json_leaves_html_alone() -> None:
    assert marshal("<&>\u2029", RAW, free) == '"<&>\\u2029"'


def test_pretty_json_indents_but_not_what_is_empty() -> None:
    assert marshal({"a": [], "b": [1]}, PRETTY, free) == '{\n  "a": [],\n  "b": [\n    1\n  ]\n}'


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e6, "1000000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-0.0, "-0"),
        (0.1, "0.1"),
        (5e-324, "5e-324"),
        (123456789.125, "123456789.125"),
    ],
)
def test_floats_take_exponents_late(number: float, text: str) -> None:
    assert format_float(number) == text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "json: unsupported value: NaN"),
        ([float("-inf")], "json: unsupported value: -Inf"),
        (1j, "json: unsupported type: complex128"),
    ],
)
def test_a_value_without_json_form_is_an_error(value: object, words: str) -> None:
    with pytest.raises(GoError) as caught:
        marshal(value, COMPACT, free)
    assert caught.value.text == words


TEXTS = st.text(st.sampled_from('ab_1 "\\<&>\n\x00\u2028é\udcff'), max_size=80)
SCALARS = st.one_of(
    TEXTS, st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none(), st.integers()
)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(TEXTS, max_size=5).map(StringSlice),
        st.dictionaries(TEXTS, inner, max_size=5),
    ),
    max_leaves=30,
)


@settings(max_examples=300, deadline=None)
@given(PLAIN, st.sampled_from([COMPACT, PRETTY, RAW]))
def test_the_quick_way_writes_what_the_exact_one_does(value: Any, style: Style) -> None:
    assert marshal_plain(value, style, free) == Writer(style).run(value, free)


def test_more_shapes_than_are_remembered_are_written_all_the_same() -> None:
    for number in range(600):
        assert marshal({f"k{number}": 1.0, "a": 2.0}, COMPACT, free) == f'{{"a":2,"k{number}":1}}'


def test_what_is_held_twice_at_every_level_is_paid_for_as_it_is_written() -> None:
    value: Any = "x"
    for _ in range(39):
        value = [value, value]
    left = 10_000

    def spend(size: int) -> None:
        nonlocal left
        left -= size
        if left < 0:
            raise GoError("over")

    with pytest.raises(GoError, match="over"):
        marshal(value, COMPACT, spend)


def test_a_cycle_is_named_by_what_lies_a_thousand_levels_deep() -> None:
    cyclic: dict[str, object] = {}
    cyclic["l"] = [cyclic]
    for style, name in ((COMPACT, "map[string]interface {}"), (RAW, "[]interface {}")):
        with pytest.raises(GoError) as caught:
            marshal(cyclic, style, free)
        assert caught.value.text == f"json: unsupported value: encountered a cycle via {name}"


def test_deep_nesting_needs_no_deep_stack() -> None:
    deep, _ = unmarshal("[" * 9000 + "]" * 9000)
    assert marshal(deep, COMPACT, free) == "[" * 9000 + "]" * 9000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' {"a": [1, "x", null, true], "a": 2} ', {"a": 2.0}),
        (r'"\u00e9\ud83d\ude00\ud83d\/"', "é😀\ufffd/"),
        ('"\udcff"', "\ufffd"),
        ("-1.5e2", -150.0),
    ],
)
def test_json_is_read(text: str, value: object) -> None:
    assert unmarshal(text) == (value, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "unexpected end of JSON input"),
        ('{"a"', "unexpected end of JSON input"),
        ("-", "invalid character ' ' in numeric literal"),
        ("tru", "invalid character ' ' in literal true (expecting 'e')"),
        ("x", "invalid character 'x' looking for beginning of value"),
        ("[1 2]", "invalid character '2' after array element"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("{a}", "invalid character 'a' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ("01", "invalid character '1' after top-level value"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ('"\n"', "invalid character '\\n' in string literal"),
        (r'"\x"', "invalid character 'x' in string escape code"),
        (r'"\u12g"', "invalid character 'g' in \\u hexadecimal character escape"),
        ("é", "invalid character 'Ã' looking for beginning of value"),
        ("'", "invalid character '\\'' looking for beginning of value"),
        ("[" * 10_001, "invalid character '[' exceeded max depth"),
    ],
)
def test_bad_json_is_refused_in_go_words(text: str, words: str) -> None:
    with pytest.raises(GoError) as caught:
        unmarshal(text)
    assert caught.value.text == words


def test_a_number_too_large_is_nil_and_the_first_one_is_the_error() -> None:
    value, misfit = unmarshal('[1e400, {"a": 1e999}]')
    assert value == [None, {"a": None}]
    assert misfit is not None
    assert misfit.text == "json: cannot unmarshal number 1e400 into Go value of type float64"
