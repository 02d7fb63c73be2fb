import pytest

from steward.runtime.controller.workqueue import MAX_STALE_DELAYS, Backoff, WorkQueue
from steward.testkit.clock import FakeClock
from tests.runtime.support.queues import A, B, C, take_all


async def test_a_failed_key_is_delayed_longer_each_time_up_to_the_cap(
    queue: WorkQueue, clock: FakeClock
) -> None:
    queue.add(A)
    delays = []
    for _ in range(20):
        await clock.pass_time(301)
        assert queue.take() == A
        delays.append(queue.retry(A))
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[-3:] == [300.0, 300.0, 300.0]


async def test_a_failed_key_is_not_retried_before_its_delay(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add(A)
    queue.take()
    delay = queue.retry(A, at_least=7.0)
    assert delay == 7.0
    await clock.pass_time(6.9)
    assert queue.take() is None
    await clock.pass_time(0.2)
    assert queue.take() == A


async def test_success_resets_the_failures(queue: WorkQueue, clock: FakeClock) -> None:
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


async def test_a_requeued_key_is_queued_after_its_delay(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add(A)
    queue.take()
    queue.requeue_after(A, 30)
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


async def test_delays_end_in_the_order_of_their_times(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add_after(A, 3)
    queue.add_after(B, 1)
    queue.add_after(C, 2)
    await clock.pass_time(5)
    assert take_all(queue) == [B, C, A]


@pytest.mark.parametrize("wait", ["requeue", "backoff"])
async def test_a_change_queues_a_delayed_key_at_once(queue: WorkQueue, clock: FakeClock, wait: str) -> None:
    queue.add(A)
    queue.take()
    if wait == "requeue":
        queue.requeue_after(A, 300)
    else:
        queue.retry(A, at_least=300)
    queue.add(A)
    assert queue.take() == A
    queue.done(A)
    await clock.pass_time(600)
    assert queue.take() is None


async def test_a_change_during_a_failing_reconcile_is_queued_at_once(queue: WorkQueue) -> None:
    queue.add(A)
    queue.take()
    queue.add(A)
    queue.retry(A, at_least=300)
    assert queue.take() == A
    assert queue.failures(A) == 1


async def test_stale_delays_do_not_accumulate(queue: WorkQueue) -> None:
    for _ in range(1000):
        queue.add(A)
        queue.take()
        queue.requeue_after(A, 36_000)
    assert queue.delayed == 1
    assert len(queue._heap) <= MAX_STALE_DELAYS + 2


async def test_debounced_changes_are_one_reconcile_and_count_from_the_first(
    queue: WorkQueue, clock: FakeClock
) -> None:
    for _ in range(4):
        queue.add_after(A, 1)
        await clock.pass_time(0.25)
    assert take_all(queue) == [A]
    await clock.pass_time(5)
    assert take_all(queue) == []


async def test_an_urgent_change_overtakes_debounced_ones(queue: WorkQueue, clock: FakeClock) -> None:
    queue.add_after(A, 1)
    queue.add(A)
    assert take_all(queue) == [A]
    await clock.pass_time(5)
    assert take_all(queue) == []


async def test_changes_debounced_while_a_key_is_processed_are_queued_after_it(
    queue: WorkQueue, clock: FakeClock
) -> None:
    queue.add(A)
    queue.take()
    queue.add_after(A, 1)
    await clock.pass_time(2)
    assert queue.take() is None
    queue.requeue_after(A, 300)
    assert queue.take() == A


async def test_a_debounced_change_has_no_delay_of_its_own_when_the_key_is_queued_anyway(
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


async def test_a_debounced_change_precedes_a_later_requeue_and_keeps_the_count_of_failures(
    queue: WorkQueue, clock: FakeClock
) -> None:
    queue.add(A)
    queue.take()
    queue.retry(A, at_least=300)
    queue.add_after(A, 1)
    await clock.pass_time(1)
    assert queue.take() == A
    assert queue.failures(A) == 1


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
def test_the_backoff_doubles_is_capped_and_jitter_only_shortens_it(
    failures: int, chance: float, delay: float
) -> None:
    assert Backoff().delay(failures, chance) == pytest.approx(delay)
