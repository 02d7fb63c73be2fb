"""The collector rests during lists. No test unfreezes: conftest.py froze a million collected objects, and every later
collection of the run would visit them."""

import gc

from steward.kube.cache.gc_pause import gc_paused


def test_the_collector_rests_while_lists_come_and_skips_them_afterwards() -> None:
    frozen = gc.get_freeze_count()
    with gc_paused():
        assert not gc.isenabled()
        kept = [[] for _ in range(100)]
    assert gc.isenabled()
    assert gc.get_freeze_count() > frozen
    assert len(kept) == 100


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
