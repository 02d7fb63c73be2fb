"""A cache of many similar documents, each compressed against the first of its family.

The Tenants of a fleet come from one template, so of a document of some kilobytes little more remains than its
differences. The cache is bounded in bytes: the document that was set longest ago is dropped first, and read from the
API server again when it is needed. `LruCache` does not fit, since it counts entries and not bytes.
"""

import zlib
from collections import OrderedDict
from typing import Final, NamedTuple

from steward.kube.objects.kinds import Key

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_FAMILIES: Final = 64
_LEVEL, _WINDOW, _MEMORY = 3, 14, 6
DICTIONARY_BYTES: Final = 1 << _WINDOW
"""The compression window: a longer dictionary would not be used."""


class _Entry(NamedTuple):
    version: str
    data: bytes
    dictionary: bytes
    """What the document was compressed against; shared by its family."""
    size: int
    """In bytes. The dictionary counts for the first of its family."""


class CompressedCache:
    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._dictionaries: OrderedDict[str, bytes] = OrderedDict()
        self.size = 0

    def set(self, key: Key, version: str, body: bytes, family: str) -> None:
        """Replaces the document of the key."""
        self.forget(key)
        is_first = family not in self._dictionaries
        dictionary = self._start_family(family, body) if is_first else self._dictionaries[family]
        data = _compress(body, dictionary)
        size = len(data) + (len(dictionary) if is_first else 0)
        self._entries[key] = _Entry(version, data, dictionary, size)
        self.size += size
        while self.size > self._max_bytes:
            self.forget(next(iter(self._entries)))

    def get(self, key: Key, version: str) -> bytes | None:
        """The document in exactly this version."""
        entry = self._entries.get(key)
        if entry is None or entry.version != version:
            return None
        return zlib.decompressobj(_WINDOW, entry.dictionary).decompress(entry.data)

    def forget(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        self.size -= 0 if entry is None else entry.size

    def _start_family(self, family: str, body: bytes) -> bytes:
        dictionary = self._dictionaries[family] = body[-DICTIONARY_BYTES:]
        if len(self._dictionaries) > MAX_FAMILIES:
            self._dictionaries.popitem(last=False)
        return dictionary


def _compress(body: bytes, dictionary: bytes) -> bytes:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zdict=dictionary)
    return compressor.compress(body) + compressor.flush()
