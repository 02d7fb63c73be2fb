"""The objects of one cache rule, with indexes, told to subscribers in the moment they change.

Invariants: an object never goes back to an older version than the store has held; an object is present as long as at
least one watch of the rule sees it; a subscriber is called after the store and its indexes hold the change, in the
same call. Writes of our own enter by `observe` and `forget` before any watch can report them.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from steward.kube.cache.index import NAMESPACE, OWNER, Index, IndexFunction, by_label, by_namespace, by_owner
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.view_decoder import Body, ViewDecoder
from steward.kube.managed_fields.ownership import NOT_OURS, OwnedFields, Ownership
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import HasMetadata, ObjectMeta, is_after, is_newer, key_of

T = TypeVar("T", bound=HasMetadata)

REMEMBERED_DELETES = 2_000

log = logging.getLogger(__name__)


class Change(Struct, Generic[T], frozen=True, gc=False):
    """One object before and after; `initial` while the first list is being read."""

    kind: Kind
    key: Key
    old: T | None
    new: T | None
    initial: bool
    owned_changed: bool
    """Whether the fields that we own, or their values, differ: always False without `owned_by` in the rule."""


class Entry(Struct, Generic[T], gc=False):
    obj: T
    ownership: Ownership
    seen: int
    """One bit for each watch of the rule that holds the object."""


# The method `list` hides the type of that name inside the class.
_List = list

Subscriber = Callable[[Change[T]], None]


class Store(Generic[T]):
    def __init__(self, rule: CacheRule[T]) -> None:
        self.rule = rule
        self.sources = rule.sources()
        self.available = True
        """False while the server does not serve the kind."""
        self.epoch = 0
        """Counts how often all was dropped: a list from before that is worth nothing."""
        self._problems: dict[int, str] = {}
        self._decoder = ViewDecoder(rule)
        self._entries: dict[Key, Entry[T]] = {}
        self._indexes: dict[str, Index[T]] = {NAMESPACE: Index(by_namespace), OWNER: Index(by_owner)}
        self._subscribers: list[Subscriber[T]] = []
        self._shown: list[Callable[[T, Body], None]] = []
        # The uid of what is gone, and the version of which the watch said so: "" when only our own delete did.
        self._gone: dict[str, str] = {}
        self._unlisted = set(range(len(self.sources)))
        self._settled = asyncio.Event()

    @property
    def kind(self) -> Kind:
        return self.rule.kind

    @property
    def synced(self) -> bool:
        return not self._unlisted

    @property
    def problem(self) -> str:
        """Why watches make no progress, for a person to read; empty when they do."""
        return "; ".join(problem for problem in self._problems.values() if problem)

    async def wait_settled(self) -> None:
        """Returns once the store holds the first list, or it is known that the server has no such kind."""
        await self._settled.wait()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> T | None:
        entry = self._entries.get(key)
        return None if entry is None else entry.obj

    def owned(self, key: Key, subresource: str = "") -> OwnedFields | None:
        """The fields of the object that we own, where the rule says `owned_by`."""
        entry = self._entries.get(key)
        return None if entry is None else entry.ownership.of(subresource)

    def ownership_at(self, key: Key, version: str) -> Ownership | None:
        """What we own of the object in this very version; None when the store holds another, or none."""
        entry = self._entries.get(key)
        return None if entry is None or entry.obj.metadata.resource_version != version else entry.ownership

    def list(self, namespace: str | None = None) -> _List[T]:
        if namespace is None:
            return [entry.obj for entry in self._entries.values()]
        return self.by_index(NAMESPACE, namespace)

    def by_index(self, index: str, value: str) -> _List[T]:
        return [self._entries[key].obj for key in self._indexes[index].keys(value)]

    def by_owner(self, uid: str) -> _List[T]:
        return self.by_index(OWNER, uid)

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        index: Index[T] = Index(function)
        for key, entry in self._entries.items():
            index.move(key, None, entry.obj)
        self._indexes[name] = index

    def add_label_index(self, label: str) -> None:
        """Lets `by_index(label, value)` find objects by the value of a label."""
        self.add_index(label, by_label(label))

    def subscribe(self, subscriber: Subscriber[T]) -> None:
        """Calls back for every change from now on, and first for each object that is already here."""
        self._subscribers.append(subscriber)
        for key, entry in list(self._entries.items()):
            self._call(subscriber, Change(self.kind, key, None, entry.obj, True, entry.ownership != NOT_OURS))

    def show_bodies(self, keeper: Callable[[T, Body], None]) -> None:
        """Shows every version that comes from now on, whole, to one who keeps more of it than the view has."""
        self._shown.append(keeper)

    def observe(self, body: bytes, ownership: Ownership | None = None) -> T | None:
        """Takes in the answer of a write, unless something newer is here or the rule does not select it.

        `ownership` is what the writer has already found out that we own of it."""
        try:
            obj = self._decoder.view(body)
        except msgspec.MsgspecError as error:
            # The write was done; that the cache cannot show it is no reason to fail the writer.
            log.warning("an answer about %s does not fit the cache: %s", self.kind, error)
            return None
        seen = self._seen_by(obj.metadata)
        if seen and not self._is_stale(obj.metadata):
            self._put(body, obj, seen, ownership)
        return obj

    def forget(self, key: Key, uid: str) -> None:
        """Takes in that a delete of this very object was answered: older news of it count no more."""
        self._bury(uid, "")
        entry = self._entries.get(key)
        if entry is not None and entry.obj.metadata.uid == uid:
            self._remove(key, entry)

    def put(self, source: int, body: Body) -> ObjectMeta:
        """An object as a watch or a list shows it."""
        obj = self._decoder.view(body)
        if not self._is_stale(obj.metadata):
            self._put(body, obj, 1 << source)
        elif entry := self._entries.get(key_of(obj)):
            entry.seen |= 1 << source
        return obj.metadata

    def remove(self, source: int, meta: ObjectMeta) -> None:
        """One watch no longer sees the object: it was deleted, or left the watch's selector."""
        key = Key(meta.namespace, meta.name)
        entry = self._entries.get(key)
        if entry is not None and not is_after(entry.obj.metadata.resource_version, meta.resource_version):
            self._unsee(source, key, entry)
        if key not in self._entries:
            self._bury(meta.uid, meta.resource_version)

    def finish_list(self, source: int, listed: set[Key], version: str) -> None:
        """The list of one watch is complete: what it does not show is gone, except what we wrote after it was taken."""
        bit = 1 << source
        missing = [
            (key, entry) for key, entry in self._entries.items() if entry.seen & bit and key not in listed
        ]
        for key, entry in missing:
            if not is_after(entry.obj.metadata.resource_version, version):
                self._unsee(source, key, entry)
        self._unlisted.discard(source)
        self.available = True
        if self.synced:
            self._settled.set()

    def kind_is_gone(self) -> None:
        """The server no longer serves the kind, so none of its objects exist."""
        if self.available:
            self.available = False
            self.start_over()
        self._settled.set()

    def start_over(self) -> None:
        """What is held is worth nothing: every watch must list again, into an empty store."""
        self.epoch += 1
        self._gone.clear()
        for key, entry in list(self._entries.items()):
            self._remove(key, entry)
        self._unlisted = set(range(len(self.sources)))

    def report(self, source: int, problem: str) -> None:
        self._problems[source] = problem

    def _seen_by(self, meta: ObjectMeta) -> int:
        if self.rule.field_selector:
            # Only the server can tell what a field selector selects: such a store takes no news of strangers.
            entry = self._entries.get(Key(meta.namespace, meta.name))
            return 0 if entry is None else entry.seen
        return sum(1 << number for number, source in enumerate(self.sources) if source.selects(meta))

    def _is_stale(self, meta: ObjectMeta) -> bool:
        if self._is_buried(meta):
            return True
        entry = self._entries.get(Key(meta.namespace, meta.name))
        return entry is not None and not is_newer(meta.resource_version, entry.obj.metadata.resource_version)

    def _is_buried(self, meta: ObjectMeta) -> bool:
        version = self._gone.get(meta.uid)
        if version is None:
            return False
        # An object that is being deleted still exists, so its events count even after our delete was answered.
        return not is_after(meta.resource_version, version) if version else meta.deletion_timestamp is None

    def _bury(self, uid: str, version: str) -> None:
        self._gone[uid] = version
        if len(self._gone) > REMEMBERED_DELETES:
            del self._gone[next(iter(self._gone))]

    def _put(self, body: Body, obj: T, seen: int, ownership: Ownership | None = None) -> None:
        key = key_of(obj)
        entry = self._entries.get(key)
        old, before = (None, NOT_OURS) if entry is None else (entry.obj, entry.ownership)
        after = self._decoder.ownership(body, obj, old, before) if ownership is None else ownership
        if entry is None:
            self._entries[key] = Entry(obj, after, seen)
        else:
            entry.obj, entry.ownership, entry.seen = obj, after, entry.seen | seen
        for keeper in self._shown:
            self._show(keeper, obj, body)
        self._tell(key, old, obj, before != after)

    def _unsee(self, source: int, key: Key, entry: Entry[T]) -> None:
        entry.seen &= ~(1 << source)
        if not entry.seen:
            self._remove(key, entry)

    def _remove(self, key: Key, entry: Entry[T]) -> None:
        del self._entries[key]
        self._tell(key, entry.obj, None, entry.ownership != NOT_OURS)

    def _tell(self, key: Key, old: T | None, new: T | None, owned_changed: bool) -> None:
        for index in self._indexes.values():
            index.move(key, old, new)
        change = Change(self.kind, key, old, new, bool(self._unlisted), owned_changed)
        for subscriber in self._subscribers:
            self._call(subscriber, change)

    def _show(self, keeper: Callable[[T, Body], None], obj: T, body: Body) -> None:
        try:
            keeper(obj, body)
        except Exception:
            log.exception("a keeper of %s failed on %s", self.kind, key_of(obj))

    def _call(self, subscriber: Subscriber[T], change: Change[T]) -> None:
        try:
            subscriber(change)
        except Exception:
            log.exception("a subscriber to %s failed on %s", self.kind, change.key)
