from steward.kube.clock import SystemClock


async def test_the_system_clock_has_wall_time_and_monotonic_time() -> None:
    clock = SystemClock()
    first = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= first
    assert clock.now() > 1_700_000_000
