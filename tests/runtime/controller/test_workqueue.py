import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.kube.objects.kinds import Key
from steward.runtime.controller.backoff import Backoff
from steward.runtime.controller.workqueue import FAST_IN_A_ROW, STALE_WAITS_KEPT, Lane, WorkQueue
from steward.testkit.clock import FakeClock, let_others_run

A, B, C = (Key("ns", name) for name in "abc")


class Recorder:
    def __init__(self) -> None:
        self.adds = 0
        self.retries = 0
        self.waited: list[float] = []
        self.worked: list[float] = []

    def added(self) -> None:
        self.adds += 1

    def taken(self, waited: float) -> None:
        self.waited.append(waited)

    def finished(self, worked: float) -> None:
        self.worked.append(worked)

    def retried(self) -> None:
        self.retries += 1


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def queue(clock: FakeClock, recorder: Recorder) -> WorkQueue:
    return WorkQueue(clock, lambda: 0.0, recorder)


def take_all(queue: WorkQueue) -> list[Key]:
    taken = []
    while (key := queue.take()) is not None:
        taken.append(key)
        queue.done(key)
    return taken


async def test_keys_come_out_in_the_order_they_went_in(queue: WorkQueue) -> None:
    for key in (A, B, C):
        queue.add(key)
    assert take_all(queue) == [A, B, C]


async def test_a_key_added_many_times_is_taken_once(queue: WorkQueue, recorder: Recorder) -> None:
    for _ in range(5):
        queue.add(A)
    assert queue.depth == 1
    assert recorder.adds == 1
    assert take_all(queue) == [A]


async def test_no_two_workers_hold_the_same_key(queue: WorkQueue) -> None:
    queue.add(A)
    assert queue.take() == A
    queue.add(A)
    assert queue.take() is None
    queue.done(A)
    assert queue.take() == A


async def test_many_changes_while_a_key_is_in_hand_make_one_more_round(queue: WorkQueue) -> None:
    queue.add(A)
    queue.take()
    for _ in range(5):
        queue.add(A)
    queue.done(A)
    assert take_all(queue) == [A]


async def test_a_new_object_does_not_wait_behind_the_first_list(queue: WorkQueue) -> None:
    for number in range(6000):
        queue.add(Key("ns", f"old-{number}"), Lane.SLOW)
    queue.add(A)
    assert queue.take() == A


async def test_the_slow_lane_is_served_while_the_fast_one_never_runs_dry(queue: WorkQueue) -> None:
    for number in range(100):
        queue.add(Key("slow", str(number)), Lane.SLOW)
    taken: Counter[str] = Counter()
    for number in range(100):
        queue.add(Key("fast", str(number)))
    for _ in range(80):
        key = queue.take()
        assert key is not None
        taken[key.namespace] += 1
        queue.done(key)
    assert taken["slow"] == 80 // (FAST_IN_A_ROW + 1)


@pytest.fixture
def bounded(clock: FakeClock, recorder: Recorder) -> WorkQueue:
    """A queue of which at most two keys of the slow lane are in hand."""
    return WorkQueue(clock, lambda: 0.0, recorder, slow_at_once=2)


async def test_the_slow_lane_leaves_workers_to_the_fast_one(bounded: WorkQueue) -> None:
    for number in range(5):
        bounded.add(Key("slow", str(number)), Lane.SLOW)
    assert [bounded.take() for _ in range(3)] == [Key("slow", "0"), Key("slow", "1"), None]
    bounded.add(A)
    assert bounded.take() == A
    bounded.done(Key("slow", "0"))
    assert bounded.take() == Key("slow", "2")


ENDS: dict[str, Callable[[WorkQueue], object]] = {
    "done": lambda queue: queue.done(A),
    "retry": lambda queue: queue.retry(A),
    "requeue": lambda queue: queue.done_for(A, 1.0),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_however_a_slow_key_ends_its_place_is_free_again(
    bounded: WorkQueue, end: Callable[[WorkQueue], object]
) -> None:
    for _ in range(10):
        bounded.add(A, Lane.SLOW)
        assert bounded.take() == A
        end(bounded)
    bounded.close()


async def test_fast_keys_beyond_the_turn_of_the_slow_lane_go_on_while_it_is_at_its_limit(
    bounded: WorkQueue,
) -> None:
    for number in range(3):
        bounded.add(Key("slow", str(number)), Lane.SLOW)
    bounded.take(), bounded.take()
    for number in range(3 * FAST_IN_A_ROW):
        bounded.add(Key("fast", str(number)))
    taken = [bounded.take() for _ in range(3 * FAST_IN_A_ROW)]
    assert all(key is not None and key.namespace == "fast" for key in taken)
    assert bounded.take() is None


async def test_a_sleeping_worker_takes_the_slow_key_when_the_one_that_is_done_goes_on_with_a_fast_one(
    bounded: WorkQueue,
) -> None:
    for key in (A, B, C):
        bounded.add(key, Lane.SLOW)
    bounded.take(), bounded.take()
    sleeper = asyncio.create_task(bounded.get())
    await let_others_run()
    assert not sleeper.done()
    fast = Key("fast", "1")
    bounded.add(fast)
    bounded.done(A)
    assert bounded.take() == fast
    await let_others_run()
    assert sleeper.result() == C


async def test_a_key_promoted_at_the_limit_wakes_a_sleeping_worker(bounded: WorkQueue) -> None:
    for key in (A, B, C):
        bounded.add(key, Lane.SLOW)
    bounded.take(), bounded.take()
    sleeper = asyncio.create_task(bounded.get())
    await let_others_run()
    bounded.add(C, Lane.FAST)
    await let_others_run()
    assert sleeper.result() == C


async def test_a_change_promotes_a_key_of_the_first_list(queue: WorkQueue) -> None:
    for key in (B, C, A):
        queue.add(key, Lane.SLOW)
    queue.add(A, Lane.FAST)
    assert take_all(queue) == [A, B, C]


async def test_a_key_promoted_and_listed_again_is_taken_once_more_only(queue: WorkQueue) -> None:
    queue.add(A, Lane.SLOW)
    queue.add(B, Lane.SLOW)
    queue.add(A, Lane.FAST)
    assert queue.take() == A
    queue.done(A)
    queue.add(A, Lane.SLOW)
    assert sorted(take_all(queue)) == [A, B]


async def test_a_change_during_work_keeps_its_lane_for_the_next_round(queue: WorkQueue) -> None:
    queue.add(A, Lane.SLOW)
    queue.take()
    queue.add(B, Lane.SLOW)
    queue.add(A, Lane.SLOW)
    queue.add(A, Lane.FAST)
    queue.done(A)
    assert take_all(queue) == [A, B]


async def test_a_failed_key_waits_longer_each_time_up_to_the_cap(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add(A)
    delays = []
    for _ in range(20):
        await clock.pass_time(301)
        assert queue.take() == A
        delays.append(queue.retry(A))
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[-3:] == [300.0, 300.0, 300.0]


async def test_a_failed_key_does_not_come_back_before_its_time(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add(A)
    queue.take()
    delay = queue.retry(A, at_least=7.0)
    assert delay == 7.0
    await clock.pass_time(6.9)
    assert queue.take() is None
    await clock.pass_time(0.2)
    assert queue.take() == A


async def test_success_forgets_the_failures(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add(A)
    for _ in range(5):
        await clock.pass_time(1)
        queue.take()
        queue.retry(A)
    await clock.pass_time(1)
    queue.take()
    queue.done(A)
    assert queue.failures(A) == 0
    queue.add(A)
    queue.take()
    assert queue.retry(A) == 0.005


async def test_a_requeue_comes_back_after_its_time(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add(A)
    queue.take()
    queue.done_for(A, 30)
    await clock.pass_time(29)
    assert queue.take() is None
    await clock.pass_time(1)
    assert queue.take() == A


async def test_the_earliest_of_two_requeues_is_kept(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add_after(A, 30)
    queue.add_after(A, 10)
    queue.add_after(A, 20)
    await clock.pass_time(10)
    assert take_all(queue) == [A]
    await clock.pass_time(60)
    assert take_all(queue) == []


async def test_waits_end_in_the_order_of_their_times(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add_after(A, 3)
    queue.add_after(B, 1)
    queue.add_after(C, 2)
    await clock.pass_time(5)
    assert take_all(queue) == [B, C, A]


@pytest.mark.parametrize("wait", ["requeue", "backoff"])
async def test_a_change_preempts_a_waiting_key(queue: WorkQueue, clock: FakeClock, wait: str) -> None:
    queue.add(A)
    queue.take()
    if wait == "requeue":
        queue.done_for(A, 300)
    else:
        queue.retry(A, at_least=300)
    queue.add(A)
    assert queue.take() == A
    queue.done(A)
    await clock.pass_time(600)
    assert queue.take() is None


async def test_a_change_during_a_failing_reconcile_is_looked_at_at_once(queue: WorkQueue) -> None:
    queue.add(A)
    queue.take()
    queue.add(A)
    queue.retry(A, at_least=300)
    assert queue.take() == A
    assert queue.failures(A) == 1


async def test_preempted_waits_do_not_pile_up(queue: WorkQueue) -> None:
    for _ in range(1000):
        queue.add(A)
        queue.take()
        queue.done_for(A, 36_000)
    assert queue.waiting == 1
    assert len(queue._heap) <= STALE_WAITS_KEPT + 2


async def test_gathered_news_are_one_look_and_count_from_the_first(
    queue: WorkQueue, clock: FakeClock
) -> None:
    for _ in range(4):
        queue.add_after(A, 1)
        await clock.pass_time(0.25)
    assert take_all(queue) == [A]
    await clock.pass_time(5)
    assert take_all(queue) == []


async def test_what_is_urgent_overtakes_what_is_gathered(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add_after(A, 1)
    queue.add(A)
    assert take_all(queue) == [A]
    await clock.pass_time(5)
    assert take_all(queue) == []


async def test_news_gathered_while_a_key_is_worked_on_are_looked_at_after_it(
    queue: WorkQueue, clock: FakeClock
) -> None:
    queue.add(A)
    queue.take()
    queue.add_after(A, 1)
    await clock.pass_time(2)
    assert queue.take() is None
    queue.done_for(A, 300)
    assert queue.take() == A


async def test_news_wait_for_nothing_of_their_own_when_the_key_comes_again_anyway(
    queue: WorkQueue, clock: FakeClock
) -> None:
    queue.add(A)
    queue.take()
    queue.add(A)
    queue.add_after(A, 1)
    queue.done(A)
    assert take_all(queue) == [A]
    await clock.pass_time(5)
    assert take_all(queue) == []


async def test_gathered_news_come_before_a_later_requeue_and_keep_the_count_of_failures(
    queue: WorkQueue, clock: FakeClock
) -> None:
    queue.add(A)
    queue.take()
    queue.retry(A, at_least=300)
    queue.add_after(A, 1)
    await clock.pass_time(1)
    assert queue.take() == A
    assert queue.failures(A) == 1


async def test_an_idle_worker_wakes_for_a_key(queue: WorkQueue) -> None:
    worker = asyncio.create_task(queue.get())
    await let_others_run()
    queue.add(A)
    assert await worker == A


async def test_a_key_wakes_another_worker_when_the_woken_one_is_cancelled(queue: WorkQueue) -> None:
    first = asyncio.create_task(queue.get())
    second = asyncio.create_task(queue.get())
    await let_others_run()
    queue.add(A)
    first.cancel()
    assert await second == A
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_closed_queue_gives_nothing_out_and_lets_go_of_its_workers(queue: WorkQueue) -> None:
    worker = asyncio.create_task(queue.get())
    await let_others_run()
    queue.close()
    assert await worker is None
    queue.add(A)
    assert await queue.get() is None


async def test_a_key_in_hand_may_be_finished_after_close(queue: WorkQueue) -> None:
    queue.add(A)
    queue.take()
    queue.add(A)
    queue.close()
    queue.done_for(A, 5)
    assert queue.working == 0
    assert queue.depth == 0


async def test_times_in_the_queue_and_in_hand_are_told(
    queue: WorkQueue, clock: FakeClock, recorder: Recorder
) -> None:
    queue.add(A)
    clock.advance(2)
    queue.take()
    clock.advance(3)
    assert queue.work_ages() == [3.0]
    queue.done(A)
    assert (recorder.waited, recorder.worked) == ([2.0], [3.0])


@pytest.mark.parametrize(
    ("failures", "chance", "delay"),
    [
        (1, 0.0, 0.005),
        (2, 0.0, 0.01),
        (1, 0.5, 0.0045),
        (40, 0.0, 300.0),
        (10_000, 0.0, 300.0),
        (10_000, 0.99, 240.6),
    ],
)
def test_back_off_doubles_is_capped_and_only_shortened_by_chance(
    failures: int, chance: float, delay: float
) -> None:
    assert Backoff().delay(failures, chance) == pytest.approx(delay)


class Model:
    """What must hold whatever happens: nothing that was asked for is forgotten, and no key is in two hands."""

    def __init__(self, queue: WorkQueue, clock: FakeClock) -> None:
        self.queue = queue
        self.clock = clock
        self.wanted: set[Key] = set()
        self.in_hand: list[Key] = []

    def add(self, key: Key, lane: Lane) -> None:
        self.queue.add(key, lane)
        self.wanted.add(key)

    def take(self) -> None:
        key = self.queue.take()
        if key is not None:
            assert key not in self.in_hand
            assert key in self.wanted
            self.in_hand.append(key)
            self.wanted.discard(key)

    def finish(self, how: str) -> None:
        if not self.in_hand:
            return
        key = self.in_hand.pop(0)
        if how == "done":
            self.queue.done(key)
            return
        self.wanted.add(key)
        if how == "retry":
            self.queue.retry(key)
        else:
            self.queue.done_for(key, 10.0)

    async def settle(self) -> None:
        """Everything in hand is done and all time passes: what was wanted must come out, and then nothing."""
        while self.in_hand:
            self.finish("done")
        while self.wanted:
            await self.clock.pass_time(400)
            before = len(self.wanted)
            self.take()
            assert len(self.wanted) < before, f"forgotten: {self.wanted}"
            self.finish("done")
        await self.clock.pass_time(400)
        assert self.queue.take() is None


_ACTIONS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from([A, B, C]), st.sampled_from(list(Lane))),
    st.tuples(st.just("take")),
    st.tuples(st.just("finish"), st.sampled_from(["done", "retry", "later"])),
    st.tuples(st.just("wait"), st.sampled_from([0.004, 1.0, 11.0])),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_ACTIONS, max_size=40))
async def test_whatever_happens_nothing_is_forgotten_and_no_key_is_in_two_hands(actions: list[Any]) -> None:
    clock = FakeClock()
    model = Model(WorkQueue(clock, lambda: 0.0, Recorder(), slow_at_once=2), clock)
    for name, *arguments in actions:
        if name == "wait":
            await clock.pass_time(*arguments)
        else:
            getattr(model, name)(*arguments)
    await model.settle()
    model.queue.close()
