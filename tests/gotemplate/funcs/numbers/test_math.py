"""sprig's arithmetic, through templates."""

import pytest

from steward.gotemplate import ExecError, parse


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ add 1 2 3 }}{{ sub 1 5 }}{{ mul 2 3 4 }}{{ div -7 2 }}{{ mod -7 2 }}", "6-424-3-1"),
        ("{{ add 9223372036854775807 1 }}", "-9223372036854775808"),
        ('{{ int "010" }} {{ int "08" }} {{ int "1.0" }} {{ int "1.5" }} {{ int64 "0x1f" }}', "8 0 1 0 31"),
        ('{{ atoi "010" }} {{ atoi "x" }} {{ atoi "99999999999999999999" }}', "10 0 9223372036854775807"),
        (
            "{{ addf 0.1 0.2 }} {{ subf 1 0.9 }} {{ mulf 1.1 1.1 }} {{ divf 1 3 }}",
            "0.3 0.1 1.21 0.3333333333333333",
        ),
        ("{{ round 1.005 2 }} {{ round 1.5 0 }} {{ round -1.5 0 }} {{ round 1.2 0 0.1 }}", "1 2 -2 2"),
        ("{{ floor 1.9 }}{{ ceil 1.1 }}{{ ceil -0.5 }}", "12-0"),
        ("{{ max 1 3 2 }}{{ min 1 3 2 }}{{ maxf 1 2.5 }}{{ minf 1 2.5 }}{{ biggest 4 5 }}", "312.515"),
        (
            '{{ toDecimal 777 }} {{ toDecimal 9 }} {{ add1 1 }} {{ add1f 0.5 }} {{ float64 "1e3" }}',
            "511 0 2 1.5 1000",
        ),
        ("{{ typeOf (add 1 2) }} {{ typeOf (int 1) }} {{ typeOf (addf 1) }}", "int64 int float64"),
        ('{{ maxf "NaN" 1 }} {{ maxf "inf" "NaN" }} {{ maxf "-0" 0 }}', "NaN +Inf 0"),
    ],
)
def test_results(source: str, text: str) -> None:
    assert parse(source).render({}) == text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ div 1 0 }}", "runtime error: integer divide by zero"),
        ("{{ mod 1 0 }}", "runtime error: integer divide by zero"),
        ("{{ divf 1 0 }}", "decimal division by 0"),
        ('{{ addf "inf" }}', "Cannot create a Decimal from +Inf"),
    ],
)
def test_panics_have_go_words(source: str, words: str) -> None:
    with pytest.raises(ExecError) as caught:
        parse(source).render({})
    assert str(caught.value).endswith(words)
