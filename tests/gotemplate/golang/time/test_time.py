"""Layouts, parsing, zones and the calendar."""

import pytest

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.time.calendar import (
    civil_from_seconds,
    days_from_civil,
    weekday,
    year_day,
)
from steward.gotemplate.golang.time.parse import parse_time
from steward.gotemplate.golang.time.time import Month, Time, Weekday, at_clock, zero_time
from steward.gotemplate.golang.time.zones import UTC, fixed, load

RFC3339 = "2006-01-02T15:04:05Z07:00"


def read(text: str, layout: str = RFC3339) -> Time:
    return Time(*parse_time(layout, text, UTC))


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("2006-01-02", "2020-02-03"),
        ("Mon Jan _2 15:04:05 2006", "Mon Feb  3 16:05:06 2020"),
        ("Monday, 02-Jan-06 3:04PM", "Monday, 03-Feb-20 4:05PM"),
        ("002 __2 pm", "034  34 pm"),
        (".000 .999 ,9", ".070 .07 "),
        ("Z07:00 -0700 -07:00:00 MST", "Z +0000 +00:00:00 UTC"),
        ("Janx Monx _2006 2006x", "Janx Monx _2020 2020x"),
    ],
)
def test_a_layout_is_filled_in(layout: str, text: str) -> None:
    assert read("2020-02-03T16:05:06.07Z").format(layout) == text


@pytest.mark.parametrize(
    ("layout", "text", "words"),
    [
        ("2006-01-02", "2020-13-01", 'parsing time "2020-13-01": month out of range'),
        ("2006-01-02", "2021-02-29", 'parsing time "2021-02-29": day out of range'),
        ("2006-01-02", "x", 'parsing time "x" as "2006-01-02": cannot parse "x" as "2006"'),
        ("2006-01-02", "2020-01-02x", 'parsing time "2020-01-02x": extra text: "x"'),
        (
            "2006-01-02",
            "2020/01/02",
            'parsing time "2020/01/02" as "2006-01-02": cannot parse "/01/02" as "-"',
        ),
        ("15:04", "25:00", 'parsing time "25:00": hour out of range'),
        ("-07:00", "+25:00", 'parsing time "+25:00": time zone offset hour out of range'),
        ("2006-002", "2021-366", 'parsing time "2021-366": day-of-year out of range'),
        ("2006-01-02 002", "2020-03-01 062", 'parsing time "2020-03-01 062": day-of-year does not match day'),
        ("2006 MST", "2020 +" + "9" * 5000, None),
    ],
)
def test_a_text_that_does_not_fit_is_refused_in_go_words(layout: str, text: str, words: str | None) -> None:
    with pytest.raises(GoError) as caught:
        read(text, layout)
    assert words is None or caught.value.text == words


def test_a_fraction_is_read_although_the_layout_names_none() -> None:
    assert read("2020-01-02T03:04:05.25Z").nanosecond == 250_000_000


def test_an_offset_that_is_not_the_places_own_becomes_a_fixed_zone() -> None:
    assert str(read("2020-01-02T03:04:05+05:30")) == "2020-01-02 03:04:05 +0530 +0530"


def test_an_unknown_abbreviation_has_no_offset_but_gmt_says_its_own() -> None:
    assert str(read("2020-01-02 XYZ", "2006-01-02 MST")) == "2020-01-02 00:00:00 +0000 XYZ"
    assert str(read("2020-01-02 GMT+3", "2006-01-02 MST")) == "2020-01-02 03:00:00 +0300 GMT+3"


def test_zones_follow_daylight_saving() -> None:
    berlin = load("Europe/Berlin")
    assert (berlin.at(1_700_000_000), berlin.at(1_720_000_000)) == (("CET", 3600), ("CEST", 7200))
    assert berlin.is_dst(1_720_000_000)
    assert (
        at_clock(days_from_civil(2024, 3, 31) * 86_400 + 2 * 3600, 0, berlin).format("15:04 MST")
        == "03:00 CEST"
    )


@pytest.mark.parametrize("name", ["Nope/Zone", "../etc/passwd", "/etc/localtime", "America"])
def test_an_unknown_zone_is_an_error(name: str) -> None:
    with pytest.raises(GoError):
        load(name)


def test_local_is_utc_whatever_the_machine_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert load("Local").at(0) == ("UTC", 0)


def test_the_calendar_knows_years_that_python_dates_do_not() -> None:
    assert civil_from_seconds(-70_000_000_000).year == -249
    assert days_from_civil(1970, 13, 1) == 365
    assert (weekday(0), year_day(2020, 12, 31)) == (4, 366)


def test_months_and_weekdays_print_their_names() -> None:
    assert (str(Month(2)), str(Month(13)), str(Weekday(0))) == ("February", "%!Month(13)", "Sunday")


def test_the_zero_time_is_year_one() -> None:
    assert str(zero_time()) == "0001-01-01 00:00:00 +0000 UTC"


def test_times_in_the_same_place_are_equal_and_whole_hours_share_a_zone() -> None:
    assert read("2020-01-02T03:04:05+02:00") == read("2020-01-02T03:04:05+02:00")
    assert read("2020-01-02T03:04:05+02:30") != read("2020-01-02T03:04:05+02:30")
    assert fixed("", 7200) is fixed("", 7200)


def test_a_year_beyond_9999_has_no_json() -> None:
    with pytest.raises(GoError, match=r"Time.MarshalJSON: year outside of range \[0,9999\]"):
        read("2020-01-02T03:04:05Z").plus_date(9000, 0, 0).marshal_json()


def test_differences_are_held_at_the_ends_of_int64() -> None:
    assert read("9999-01-01T00:00:00Z").minus(zero_time()) == (1 << 63) - 1
