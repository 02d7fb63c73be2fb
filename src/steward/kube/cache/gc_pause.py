"""Pauses Python's garbage collector during the first lists.

The first lists create hundreds of thousands of objects, none of which is garbage, yet every few hundred of them trigger
a collection that scans all of them. So the collector is off meanwhile, and the objects are frozen: later collections
do not scan them.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Disables collections inside; afterwards all live objects are exempt from later collections."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.collect()
        gc.freeze()
    finally:
        if was_on:
            gc.enable()
