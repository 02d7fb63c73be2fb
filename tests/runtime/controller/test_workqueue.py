import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.kube.objects.kinds import Key
from steward.runtime.controller.workqueue import FAST_IN_A_ROW, URGENT_IN_A_ROW, LaneLimits, WorkQueue
from steward.runtime.reconcile import Lane
from steward.testkit.clock import FakeClock, let_others_run
from tests.runtime.support.queues import A, B, C, Recorder, take_all


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


async def test_no_two_workers_process_the_same_key(queue: WorkQueue) -> None:
    queue.add(A)
    assert queue.take() == A
    queue.add(A)
    assert queue.take() is None
    queue.done(A)
    assert queue.take() == A


async def test_many_changes_while_a_key_is_processed_cause_one_more_reconcile(queue: WorkQueue) -> None:
    queue.add(A)
    queue.take()
    for _ in range(5):
        queue.add(A)
    queue.done(A)
    assert take_all(queue) == [A]


async def test_a_new_object_does_not_wait_behind_the_initial_list(queue: WorkQueue) -> None:
    for number in range(6000):
        queue.add(Key("ns", f"old-{number}"), Lane.SLOW)
    queue.add(A)
    assert queue.take() == A


async def test_the_slow_lane_is_served_while_the_fast_one_is_never_empty(queue: WorkQueue) -> None:
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


async def test_what_is_nearly_done_precedes_what_is_new(queue: WorkQueue) -> None:
    queue.add(A)
    queue.add(B)
    queue.add(C, Lane.URGENT)
    assert take_all(queue) == [C, A, B]


async def test_a_queued_key_that_becomes_urgent_moves_ahead(queue: WorkQueue) -> None:
    for key in (A, B, C):
        queue.add(key)
    queue.add(C, Lane.URGENT)
    assert take_all(queue) == [C, A, B]


async def test_no_lane_starves_while_urgent_keys_keep_coming(queue: WorkQueue) -> None:
    taken: Counter[str] = Counter()
    for number in range(1000):
        for lane in Lane:
            queue.add(Key(lane.name, str(number)), lane)
    for _ in range(640):
        key = queue.take()
        assert key is not None
        taken[key.namespace] += 1
        queue.done(key)
    assert taken["SLOW"] == 640 // (FAST_IN_A_ROW + 1)
    assert taken["FAST"] == (640 - taken["SLOW"]) // (URGENT_IN_A_ROW + 1)


async def test_an_urgent_key_does_not_use_a_place_of_the_slow_lane(bounded: WorkQueue) -> None:
    for number in range(4):
        bounded.add(Key("urgent", str(number)), Lane.URGENT)
    assert None not in [bounded.take() for _ in range(4)]
    bounded.add(A, Lane.SLOW)
    assert bounded.take() == A


@pytest.fixture
def bounded(clock: FakeClock, recorder: Recorder) -> WorkQueue:
    """A queue with at most two slow keys in process."""
    return WorkQueue(clock, lambda: 0.0, recorder, LaneLimits(slow=2))


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
    "requeue": lambda queue: queue.requeue_after(A, 1.0),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_however_a_slow_key_ends_its_slot_is_free_again(
    bounded: WorkQueue, end: Callable[[WorkQueue], object]
) -> None:
    for _ in range(10):
        bounded.add(A, Lane.SLOW)
        assert bounded.take() == A
        end(bounded)
    bounded.close()


async def test_fast_keys_continue_while_the_slow_lane_is_at_its_limit(
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


async def test_an_idle_worker_takes_the_slow_key_when_the_finished_one_takes_a_fast_key(
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


async def test_a_key_promoted_at_the_limit_wakes_an_idle_worker(bounded: WorkQueue) -> None:
    for key in (A, B, C):
        bounded.add(key, Lane.SLOW)
    bounded.take(), bounded.take()
    sleeper = asyncio.create_task(bounded.get())
    await let_others_run()
    bounded.add(C, Lane.FAST)
    await let_others_run()
    assert sleeper.result() == C


@pytest.fixture
def reserving(clock: FakeClock, recorder: Recorder) -> WorkQueue:
    """Keys that are not urgent are processed one at a time."""
    return WorkQueue(clock, lambda: 0.0, recorder, LaneLimits(not_urgent=1))


@pytest.mark.parametrize("lane", [Lane.FAST, Lane.SLOW])
async def test_urgent_keys_are_taken_while_the_other_lanes_are_at_their_limit(
    reserving: WorkQueue, lane: Lane
) -> None:
    reserving.add(A, lane)
    reserving.add(B, lane)
    assert reserving.take() == A
    assert reserving.take() is None
    reserving.add(C, Lane.URGENT)
    assert reserving.take() == C
    assert reserving.take() is None


async def test_an_urgent_key_takes_no_place_of_the_others(reserving: WorkQueue) -> None:
    reserving.add(A, Lane.URGENT)
    reserving.add(B)
    assert take_all(reserving) == [A, B]


@pytest.mark.parametrize("lane", [Lane.FAST, Lane.SLOW])
async def test_an_idle_worker_takes_the_next_key_when_the_finished_one_takes_an_urgent_key(
    reserving: WorkQueue, lane: Lane
) -> None:
    reserving.add(A)
    reserving.add(B, lane)
    reserving.take()
    sleeper = asyncio.create_task(reserving.get())
    await let_others_run()
    assert not sleeper.done()
    reserving.add(C, Lane.URGENT)
    assert reserving.take() == C
    reserving.done(A)
    await let_others_run()
    assert sleeper.result() == B


async def test_a_change_promotes_a_key_of_the_initial_list(queue: WorkQueue) -> None:
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


async def test_a_change_during_processing_keeps_its_lane_for_the_next_reconcile(queue: WorkQueue) -> None:
    queue.add(A, Lane.SLOW)
    queue.take()
    queue.add(B, Lane.SLOW)
    queue.add(A, Lane.SLOW)
    queue.add(A, Lane.FAST)
    queue.done(A)
    assert take_all(queue) == [A, B]


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


async def test_a_closed_queue_gives_out_nothing_and_releases_its_workers(queue: WorkQueue) -> None:
    worker = asyncio.create_task(queue.get())
    await let_others_run()
    queue.close()
    assert await worker is None
    queue.add(A)
    assert await queue.get() is None


async def test_a_key_in_process_may_be_finished_after_close(queue: WorkQueue) -> None:
    queue.add(A)
    queue.take()
    queue.add(A)
    queue.close()
    queue.requeue_after(A, 5)
    assert queue.processing == 0
    assert queue.depth == 0


async def test_queue_and_processing_times_are_reported(
    queue: WorkQueue, clock: FakeClock, recorder: Recorder
) -> None:
    queue.add(A)
    clock.advance(2)
    queue.take()
    clock.advance(3)
    assert queue.work_ages() == [3.0]
    queue.done(A)
    assert (recorder.waited, recorder.worked) == ([2.0], [3.0])


class Model:
    """Invariants: no added key is lost, and no key is processed by two workers."""

    def __init__(self, queue: WorkQueue, clock: FakeClock) -> None:
        self.queue = queue
        self.clock = clock
        self.expected: set[Key] = set()
        self.processing: list[Key] = []

    def add(self, key: Key, lane: Lane) -> None:
        self.queue.add(key, lane)
        self.expected.add(key)

    def take(self) -> None:
        key = self.queue.take()
        if key is not None:
            assert key not in self.processing
            assert key in self.expected
            self.processing.append(key)
            self.expected.discard(key)

    def finish(self, outcome: str) -> None:
        if not self.processing:
            return
        key = self.processing.pop(0)
        if outcome == "done":
            self.queue.done(key)
            return
        self.expected.add(key)
        if outcome == "retry":
            self.queue.retry(key)
        else:
            self.queue.requeue_after(key, 10.0)

    async def settle(self) -> None:
        """Finishes all keys and lets all delays pass: every added key must be given out, and then none."""
        while self.processing:
            self.finish("done")
        while self.expected:
            await self.clock.pass_time(400)
            before = len(self.expected)
            self.take()
            assert len(self.expected) < before, f"forgotten: {self.expected}"
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
async def test_no_sequence_of_calls_loses_a_key_or_gives_it_to_two_workers(actions: list[Any]) -> None:
    clock = FakeClock()
    model = Model(WorkQueue(clock, lambda: 0.0, Recorder(), LaneLimits(slow=2)), clock)
    for name, *arguments in actions:
        if name == "wait":
            await clock.pass_time(*arguments)
        else:
            getattr(model, name)(*arguments)
    await model.settle()
    model.queue.close()
