"""How often the garbage collector of an operator's process runs."""

import gc

from steward.runtime.manager.garbage_collection import NEW_OBJECTS, collect_less_often


def test_a_collection_waits_for_more_new_objects() -> None:
    before = gc.get_threshold()
    try:
        collect_less_often()
        assert gc.get_threshold() == (NEW_OBJECTS, *before[1:])
        assert before[0] < NEW_OBJECTS
    finally:
        gc.set_threshold(*before)
