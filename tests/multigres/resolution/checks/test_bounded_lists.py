"""Lists in messages are bounded."""

from steward.multigres.resolution.checks.bounded_lists import SHOWN, first_texts


def test_a_short_list_is_shown_whole() -> None:
    assert first_texts(["a", "b"], "problems") == ["a", "b"]


def test_a_long_list_ends_in_the_number_of_the_others() -> None:
    shown = first_texts([str(number) for number in range(1500)], "problems")
    assert shown[:SHOWN] == [str(number) for number in range(SHOWN)]
    assert shown[SHOWN:] == [f"and {1500 - SHOWN:,} more problems"]
