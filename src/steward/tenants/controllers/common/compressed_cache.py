"""Many documents that are nearly alike, kept small: each is compressed against the first of its family.

A fleet is one template many times: of a document of some kilobytes hardly more remains than what tells it from the
others. All of it stays within a bound. What was kept longest ago goes first, and is read from the server again.
"""

import zlib
from collections import OrderedDict
from typing import Final, NamedTuple

from steward.kube.objects.kinds import Key

MOST_BYTES: Final = 32 * 1024 * 1024
MOST_FAMILIES: Final = 64
_LEVEL, _WINDOW, _MEMORY = 3, 14, 6
LIKENESS_BYTES: Final = 1 << _WINDOW
"""The compression looks no further back."""


class Packed(NamedTuple):
    version: str
    data: bytes
    likeness: bytes
    """What it was compressed against; shared by its family."""
    weight: int
    """In bytes. The first of a family bears what they share."""


class Archive:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[Key, Packed] = OrderedDict()
        self._families: OrderedDict[str, bytes] = OrderedDict()
        self.size = 0

    def keep(self, key: Key, version: str, body: bytes, family: str) -> None:
        """In place of whatever was kept under the key."""
        self.forget(key)
        is_first = family not in self._families
        likeness = self._begin(family, body) if is_first else self._families[family]
        data = _compressed(body, likeness)
        weight = len(data) + (len(likeness) if is_first else 0)
        self._kept[key] = Packed(version, data, likeness, weight)
        self.size += weight
        while self.size > self._most:
            self.forget(next(iter(self._kept)))

    def get(self, key: Key, version: str) -> bytes | None:
        """The document in this very version."""
        packed = self._kept.get(key)
        if packed is None or packed.version != version:
            return None
        return zlib.decompressobj(_WINDOW, packed.likeness).decompress(packed.data)

    def forget(self, key: Key) -> None:
        packed = self._kept.pop(key, None)
        self.size -= 0 if packed is None else packed.weight

    def _begin(self, family: str, body: bytes) -> bytes:
        likeness = self._families[family] = body[-LIKENESS_BYTES:]
        if len(self._families) > MOST_FAMILIES:
            self._families.popitem(last=False)
        return likeness


def _compressed(body: bytes, likeness: bytes) -> bytes:
    packing = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zdict=likeness)
    return packing.compress(body) + packing.flush()
