"""How much room Go's slices have behind their length: `slice` may reach into it, and finds zeros there.

A slice that Go grew item by item (JSON lists, until, uniq, keys ...) has room to spare; one made in its final size
(list, splitList, reverse ...) has none. Python lists know neither, so the functions that make the latter, or that cut
one slice out of another, note it down: in the slice itself where its class is ours, else for the rendering. Whatever
is not noted was grown.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple, TypeVar

from steward.gotemplate.budget import Budget
from steward.gotemplate.values.values import IntSlice, Slice, Value

L = TypeVar("L", bound=list[Value])

_PAGE = 8192
_HEADER = 8
_HEADERLESS = 512
# An interface or a string takes two words; an int takes one.
_POINTERS = 16
_SIZE_CLASSES = (
    *(
        8,
        16,
        24,
        32,
        48,
        64,
        80,
        96,
        112,
        128,
        144,
        160,
        176,
        192,
        208,
        224,
        240,
        256,
        288,
        320,
        352,
        384,
        416,
    ),
    *(
        448,
        480,
        512,
        576,
        640,
        704,
        768,
        896,
        1024,
        1152,
        1280,
        1408,
        1536,
        1792,
        2048,
        2304,
        2688,
        3072,
        3200,
    ),
    *(
        3456,
        4096,
        4864,
        5120,
        5376,
        6144,
        6528,
        6784,
        6912,
        8192,
        9472,
        9728,
        10240,
        10880,
        12288,
        13568,
        14336,
    ),
    *(16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768),
)


class Room(NamedTuple):
    """Where a list's items lie: in `storage`, from `offset` on, with `capacity` places. `owner` keeps the id alive."""

    owner: list[Value]
    storage: list[Value]
    offset: int
    capacity: int


def exact(budget: Budget, values: L) -> L:
    """Notes that a list was made in its final size."""
    return noted(budget, values, len(values))


def noted(budget: Budget, values: L, capacity: int) -> L:
    if isinstance(values, Slice):
        values.capacity = capacity
        return values
    _notes(budget)[id(values)] = Room(values, values, 0, capacity)
    return values


def cut(budget: Budget, values: L, storage: Room, start: int) -> L:
    """Notes that a list is part of another."""
    offset = storage.offset + start
    _notes(budget)[id(values)] = Room(values, storage.storage, offset, storage.capacity - start)
    return values


def room_of(budget: Budget, values: list[Value]) -> Room:
    known = _notes(budget).get(id(values))
    if known is not None:
        return known
    capacity = getattr(values, "capacity", None)
    if capacity is None:
        capacity = grown(len(values), 8 if isinstance(values, IntSlice) else 16)
    return Room(values, values, 0, capacity)


def _notes(budget: Budget) -> dict[int, Room]:
    notes: dict[int, Room] = vars(budget).setdefault("list_rooms", {})
    return notes


def grown(length: int, item_size: int = 16, capacity: int = 0) -> int:
    """The capacity after appending items one by one until there are so many."""
    while capacity < length:
        capacity = appended(capacity, item_size)
    return capacity


def appended(capacity: int, item_size: int = 16) -> int:
    """What Go makes of a full slice when one more item comes: double, beyond 256 ever more slowly."""
    wanted = 1 if capacity == 0 else 2 * capacity if capacity < 256 else capacity + (capacity + 768) // 4
    return _rounded(wanted * item_size, item_size == _POINTERS) // item_size


def _rounded(size: int, has_pointers: bool) -> int:
    """What Go's allocator gives for a size; above 512 bytes, items with pointers need eight for themselves."""
    if size > _SIZE_CLASSES[-1] - _HEADER:
        return -(-size // _PAGE) * _PAGE
    header = _HEADER if has_pointers and size > _HEADERLESS else 0
    return _SIZE_CLASSES[bisect_left(_SIZE_CLASSES, size + header)] - header
