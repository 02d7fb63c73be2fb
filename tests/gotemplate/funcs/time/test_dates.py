"""sprig's dates, and what of them is hermetic."""

import pytest

from steward.gotemplate import ExecError, ParseError, parse

DAY = '(toDate "2006-01-02" "2020-02-03")'


def render(source: str, profile: str = "hermetic") -> str:
    return parse(source, profile=profile).render({"n": 7.0})


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (f"{{{{ {DAY}.Weekday }}}} {{{{ {DAY}.Month }}}} {{{{ {DAY}.YearDay }}}}", "Monday February 34"),
        (f"{{{{ {DAY}.Location }}}}", "UTC"),
        (f'{{{{ ({DAY}.AddDate 0 1 0).Format "Jan 2" }}}}', "Mar 3"),
        (f'{{{{ ({DAY}.Sub (dateModify "-36h" {DAY})).Hours }}}}', "36"),
        ('{{ dateInZone "15:04 MST" 0 "Asia/Tokyo" }} {{ htmlDateInZone 0 "Nope" }}', "09:00 JST 1970-01-01"),
        ('{{ duration 95 }} {{ duration "95" }} {{ duration (int64 3661) }}', "0s 1m35s 1h1m1s"),
        (
            '{{ durationRound "24h" }} {{ durationRound "25h" }} {{ durationRound "8761h" }} {{ durationRound "x" }}',
            "24h 1d 1y 0s",
        ),
        (
            '{{ unixEpoch (toDate "2006" "1970") }} {{ (toDate "2006" "x").Year }} {{ toDate "2006" "x" | empty }}',
            "0 1 false",
        ),
        (f"{{{{ toJson {DAY} }}}} {{{{ deepEqual {DAY} {DAY} }}}}", '"2020-02-03T00:00:00Z" true'),
    ],
)
def test_results(source: str, text: str) -> None:
    assert render(source) == text


@pytest.mark.parametrize(
    "source",
    [
        '{{ date "2006" .n }}',
        '{{ htmlDate "x" }}',
        '{{ dateInZone "2006" nil "UTC" }}',
        f"{{{{ durationRound {DAY} }}}}",
    ],
)
def test_a_date_that_means_now_needs_the_clock(source: str) -> None:
    with pytest.raises(ExecError, match="the clock is only in profile full"):
        render(source)
    assert render(source, "full")


@pytest.mark.parametrize(
    "source", ["{{ now }}", "{{ ago 0 }}", "{{ uuidv4 }}", '{{ genCA "x" 1 }}', "{{ randAlpha 3 }}"]
)
def test_clock_random_and_keys_are_rejected_in_the_hermetic_profile(source: str) -> None:
    with pytest.raises(ParseError, match="profile full"):
        render(source)


def test_now_is_a_time_with_a_monotonic_reading() -> None:
    assert " m=+" in render("{{ now }}", "full")
    assert " m=" not in render("{{ now.UTC }}", "full")
    assert render("{{ (now.Sub now).Round (now.Sub now) | kindOf }}{{ ago now }}", "full") == "int640s"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (f"{{{{ {DAY}.Date }}}}", "function Date has 3 return values; should be 1 or 2"),
        (f"{{{{ {DAY}.wall }}}}", "wall is an unexported field of struct type time.Time"),
        (f"{{{{ {DAY}.In nil }}}}", "time: missing Location in call to Time.In"),
        ('{{ mustToDate "2006" "x" }}', 'parsing time "x" as "2006": cannot parse "x" as "2006"'),
        (f'{{{{ mustDateModify "x" {DAY} }}}}', 'time: invalid duration "x"'),
    ],
)
def test_failures_have_go_words(source: str, words: str) -> None:
    with pytest.raises(ExecError) as caught:
        render(source)
    assert str(caught.value).endswith(words)
