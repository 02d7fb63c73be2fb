"""Which changes of an object are our own writes, and which only look like them. Pure but for memory.

A write of ours comes to a store twice: as the answer, and as an event of the watch, in either order. Whoever need not
look at what it wrote itself must still see everything else, and an answer can hide it: somebody changed the object
between what the store held and what we wrote, and the answer holds both. The watch tells them apart, for it shows every
version in order. So an object is remembered from the beginning of a write until a watch has shown what we were
answered. Another version, a deletion or a list (which shows the last version only) in that time means that somebody
else may have been at it: what the object was before the write is handed back then, and all that changed since is told
once more, as nobody's write.
"""

from typing import Generic, TypeVar

from msgspec import Struct

from steward.kube.kinds import Key
from steward.kube.meta import HasMetadata, is_after
from steward.kube.owned import NOT_OURS, Ownership

T = TypeVar("T", bound=HasMetadata)

# Stands for the versions that a list may have passed over.
_UNSEEN = ""


class Before(Struct, Generic[T], frozen=True, gc=False):
    """An object as the store held it when a write began."""

    obj: T | None = None
    ownership: Ownership = NOT_OURS

    def has(self, version: str) -> bool:
        """Whether this is the version that was held, or an older one: it was told in its time."""
        if self.obj is None:
            return False
        held = self.obj.metadata.resource_version
        return held == version or is_after(held, version)


class _Write(Struct, Generic[T]):
    before: Before[T]
    writer: object
    """None when several are writing, and nobody can say whose a version is."""
    under_way: int = 0
    answered: set[str] = set()
    """The versions that we were answered and no watch has shown."""
    unclaimed: set[str] = set()
    """The versions that a watch showed while a write was under way: ours, or not."""


class OwnWrites(Generic[T]):
    def __init__(self) -> None:
        self._writes: dict[Key, _Write[T]] = {}
        self._listing: set[int] = set()

    def begin(self, key: Key, writer: object, before: Before[T]) -> None:
        write = self._writes.get(key)
        if write is None:
            write = self._writes[key] = _Write(before, writer)
        elif write.writer != writer:
            write.writer = None
        if self._listing:
            write.unclaimed.add(_UNSEEN)
        write.under_way += 1

    def end(self, key: Key) -> Before[T] | None:
        """One write is over, answered or not."""
        write = self._writes.get(key)
        if write is None:
            return None
        write.under_way -= 1
        if write.unclaimed and not write.under_way:
            return self._hand_back(key, write)
        self._forget_if_shown(key, write)
        return None

    def writer_of(self, key: Key) -> object:
        """Who is writing the object at this moment; what comes now may be that write."""
        write = self._writes.get(key)
        return write.writer if write is not None and write.under_way else None

    def answered(self, key: Key, version: str) -> None:
        """A write under way was answered; an answer to any other is as good as a stranger's write."""
        write = self._writes.get(key)
        if write is None or not write.under_way:
            return
        if version in write.unclaimed:
            write.unclaimed.discard(version)
        else:
            write.answered.add(version)

    def shown(self, key: Key, version: str) -> Before[T] | None:
        """A watch shows a version, or that the object ends with it."""
        write = self._writes.get(key)
        if write is None or write.before.has(version):
            return None
        if version in write.answered:
            write.answered.discard(version)
            self._forget_if_shown(key, write)
            return None
        if write.under_way:
            write.unclaimed.add(version)
            return None
        return self._hand_back(key, write)

    def list_begins(self, source: int) -> list[tuple[Key, Before[T]]]:
        """A list shows the last version alone: until it ends, nobody can say what was before that."""
        self._listing.add(source)
        for write in self._writes.values():
            write.unclaimed.add(_UNSEEN)
        resting = [(key, write) for key, write in self._writes.items() if not write.under_way]
        return [(key, self._hand_back(key, write)) for key, write in resting]

    def list_ends(self, source: int) -> None:
        self._listing.discard(source)

    def clear(self) -> None:
        self._writes.clear()
        self._listing.clear()

    def __len__(self) -> int:
        return len(self._writes)

    def _hand_back(self, key: Key, write: _Write[T]) -> Before[T]:
        del self._writes[key]
        return write.before

    def _forget_if_shown(self, key: Key, write: _Write[T]) -> None:
        if not write.answered and not write.under_way:
            del self._writes[key]
