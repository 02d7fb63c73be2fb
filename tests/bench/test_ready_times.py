"""First, median and ninth decile of many objects, as shares of the whole time."""

from bench.measuring.figures import at_most_of_floor
from bench.measuring.ready_times import ReadyTimes, figures_of_each_round, figures_of_rounds


def test_the_median_is_judged_as_a_share_of_the_whole():
    times = ReadyTimes.since(100.0, [110.0, 101.0, 104.0, 106.0])
    first, middle, ninth = figures_of_rounds([times], at_most_of_floor(0.6))
    assert (times.first, times.last) == (1.0, 10.0)
    assert (first.ratio, middle.ratio, ninth.ratio) == (0.1, 0.4, 1.0)
    assert middle.verdict == "met"


def test_objects_that_are_all_ready_at_the_end_miss_the_target():
    times = ReadyTimes.since(0.0, [9.0, 9.5, 10.0])
    assert figures_of_rounds([times], at_most_of_floor(0.6))[1].verdict == "missed"


def test_each_round_is_compared_with_its_own_whole_time():
    fast, slow = ReadyTimes((1.0, 2.0, 4.0)), ReadyTimes((2.0, 8.0, 40.0))
    even = ReadyTimes((5.0, 6.0, 10.0))
    assert [figure.ratio for figure in figures_of_rounds([fast, slow, even], at_most_of_floor(0.6))] == [
        0.25,
        0.5,
        1.0,
    ]


def test_several_rounds_are_shown_one_by_one_and_a_single_one_is_not():
    assert figures_of_each_round([3.0], [2.0]) == []
    assert [figure.ratio for figure in figures_of_each_round([3.0, 4.0], [2.0, 4.0])] == [1.5, 1.0]
