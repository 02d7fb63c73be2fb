"""The cached objects of one rule, with indexes, and callbacks for each change.

Invariants: an object is never replaced by an older version; an object is present as long as at least one watch of the
rule selects it; subscribers are called synchronously, after the store and its indexes hold the change. The operator's
own writes enter through `observe_write` and `observe_delete`, before a watch reports them.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from steward.kube.cache.index import NAMESPACE, OWNER, Index, IndexFunction, by_label, by_namespace, by_owner
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.view_decoder import Body, ViewDecoder
from steward.kube.cache.watch_events import read_metadata
from steward.kube.managed_fields.field_losses import ChangedKeys, FieldLosses, Losses
from steward.kube.managed_fields.ownership import NOT_OWNED, OwnedFields, Ownership
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import HasMetadata, ObjectMeta, is_after, is_newer, key_of

T = TypeVar("T", bound=HasMetadata)

REMEMBERED_DELETES = 2_000
LARGE_BYTES = 32 * 1024
"""From this size on, reading the metadata first costs little beside decoding the view."""

log = logging.getLogger(__name__)


class ObjectChange(Struct, Generic[T], frozen=True, gc=False):
    """One object before and after a change; `initial` during the first list."""

    kind: Kind
    key: Key
    old: T | None
    new: T | None
    initial: bool
    owned_changed: bool
    """Whether the fields that we own, or their values, changed; always False without `owned_by` in the rule."""


class StoreEntry(Struct, Generic[T], gc=False):
    obj: T
    ownership: Ownership
    scopes: int
    """One bit for each watch of the rule that selects the object."""


_BUILT_IN_INDEXES: Final = {NAMESPACE: by_namespace, OWNER: by_owner}

# Inside the class, the method `list` hides the type of that name.
_List = list

Subscriber = Callable[[ObjectChange[T]], None]


class Store(Generic[T]):
    def __init__(self, rule: CacheRule[T]) -> None:
        self.rule = rule
        self.scopes = rule.watch_scopes()
        self.available = True
        """False while the server does not serve the kind."""
        self.epoch = 0
        """Counts resets: a list that began before a reset is void."""
        self._problems: dict[int, str] = {}
        self._decoder = ViewDecoder(rule)
        self._losses: FieldLosses[Key] = FieldLosses(rule.owned_by)
        self._entries: dict[Key, StoreEntry[T]] = {}
        self._indexes: dict[str, Index[T]] = {}
        self._subscribers: list[Subscriber[T]] = []
        self._body_listeners: list[Callable[[T, Body], None]] = []
        # Deleted uids with the resourceVersion of the watch event; "" when only our own delete was answered.
        self._deleted: dict[str, str] = {}
        self._unlisted = set(range(len(self.scopes)))
        self._ready = asyncio.Event()

    @property
    def kind(self) -> Kind:
        return self.rule.kind

    @property
    def synced(self) -> bool:
        return not self._unlisted

    @property
    def problem(self) -> str:
        """Why a watch of this store fails, as a message for users; empty when none does."""
        return "; ".join(problem for problem in self._problems.values() if problem)

    async def wait_synced(self) -> None:
        """Returns when the store holds the first list, or when the server does not serve the kind."""
        await self._ready.wait()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> T | None:
        entry = self._entries.get(key)
        return None if entry is None else entry.obj

    def owned_fields(self, key: Key, subresource: str = "") -> OwnedFields | None:
        """The fields of the object that we own, where the rule has `owned_by`."""
        entry = self._entries.get(key)
        return None if entry is None else entry.ownership.for_subresource(subresource)

    def lost_fields(self, key: Key) -> Losses:
        """The fields that this process saw others take from us, and who."""
        return self._losses.get(key)

    def changed_keys(self, key: Key) -> ChangedKeys | None:
        """The object, if this process saw others change the merge key of a list item of ours."""
        return self._losses.changed_keys(key)

    def ownership_at(self, key: Key, version: str) -> Ownership | None:
        """The fields that we own in exactly this version; None when the store holds another version or none."""
        entry = self._entries.get(key)
        return None if entry is None or entry.obj.metadata.resource_version != version else entry.ownership

    def list(self, namespace: str | None = None) -> _List[T]:
        if namespace is None:
            return [entry.obj for entry in self._entries.values()]
        return self.by_index(NAMESPACE, namespace)

    def by_index(self, index: str, value: str) -> _List[T]:
        if index in _BUILT_IN_INDEXES and index not in self._indexes:
            # Not before it is used: an index by owner is a fifth of the memory of a small object.
            self.add_index(index, _BUILT_IN_INDEXES[index])
        return [self._entries[key].obj for key in self._indexes[index].keys(value)]

    def by_owner(self, uid: str) -> _List[T]:
        return self.by_index(OWNER, uid)

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        index: Index[T] = Index(function)
        for key, entry in self._entries.items():
            index.update(key, None, entry.obj)
        self._indexes[name] = index

    def add_label_index(self, label: str) -> None:
        """Lets `by_index(label, value)` find objects by the value of a label."""
        self.add_index(label, by_label(label))

    def subscribe(self, subscriber: Subscriber[T]) -> None:
        """Calls the subscriber for each cached object now, and for every change from now on."""
        self._subscribers.append(subscriber)
        for key, entry in list(self._entries.items()):
            self._call(
                subscriber, ObjectChange(self.kind, key, None, entry.obj, True, entry.ownership != NOT_OWNED)
            )

    def add_body_listener(self, listener: Callable[[T, Body], None]) -> None:
        """Calls the listener with the whole body of every later version, for data that the view does not have."""
        self._body_listeners.append(listener)

    def observe_write(self, body: bytes, ownership: Ownership | None = None) -> T | None:
        """Stores the answer to a write, unless the store has a newer version or the rule does not select the object.

        `ownership` is passed when the writer has already computed it."""
        try:
            obj = self._decoder.view(body)
        except msgspec.MsgspecError as error:
            # The write succeeded; the caller must not fail because the cache cannot decode the answer.
            log.warning("the answer to a write of %s does not fit the cache view: %s", self.kind, error)
            return None
        scopes = self._scope_bits(obj.metadata)
        if scopes and not self._is_stale(obj.metadata):
            self._set_entry(body, obj, scopes, ownership)
        return obj

    def observe_delete(self, key: Key, uid: str) -> None:
        """Removes an object whose delete was answered; older watch events of it are ignored from now on."""
        self._remember_deletion(uid, "")
        entry = self._entries.get(key)
        if entry is not None and entry.obj.metadata.uid == uid:
            self._remove(key, entry)

    def put_watched(self, scope: int, body: Body) -> ObjectMeta:
        """Stores an object from a watch event or a list."""
        if memoryview(body).nbytes > LARGE_BYTES and (known := self._known_version(scope, body)):
            return known
        obj = self._decoder.view(body)
        if not self._is_accepted(obj.metadata):
            self._leave_out(scope, key_of(obj))
        elif not self._is_stale(obj.metadata):
            self._set_entry(body, obj, 1 << scope)
        elif entry := self._entries.get(key_of(obj)):
            entry.scopes |= 1 << scope
        return obj.metadata

    def _is_accepted(self, meta: ObjectMeta) -> bool:
        accepts = self.rule.accepts
        return accepts is None or accepts(meta)

    def _leave_out(self, scope: int, key: Key) -> None:
        """The store may hold an earlier version, with other labels."""
        entry = self._entries.get(key)
        if entry is not None:
            self._remove_scope(scope, key, entry)

    def _known_version(self, scope: int, body: Body) -> ObjectMeta | None:
        """The metadata of a version that the store holds, as after each write of our own: then its view need not be
        decoded again."""
        meta = read_metadata(body)
        entry = self._entries.get(Key(meta.namespace, meta.name))
        if entry is None or entry.obj.metadata.resource_version != meta.resource_version:
            return None
        entry.scopes |= 1 << scope
        return meta

    def remove_watched(self, scope: int, meta: ObjectMeta) -> None:
        """One watch no longer selects the object: it was deleted, or its labels changed."""
        key = Key(meta.namespace, meta.name)
        entry = self._entries.get(key)
        if entry is not None and not is_after(entry.obj.metadata.resource_version, meta.resource_version):
            self._remove_scope(scope, key, entry)
        if key not in self._entries:
            self._remember_deletion(meta.uid, meta.resource_version)

    def finish_list(self, scope: int, listed: set[Key], version: str) -> None:
        """The list of one watch is complete: objects that it lacks are deleted, except those that we wrote after it."""
        bit = 1 << scope
        missing = [
            (key, entry) for key, entry in self._entries.items() if entry.scopes & bit and key not in listed
        ]
        for key, entry in missing:
            if not is_after(entry.obj.metadata.resource_version, version):
                self._remove_scope(scope, key, entry)
        self._unlisted.discard(scope)
        self.available = True
        if self.synced:
            self._ready.set()

    def mark_kind_missing(self) -> None:
        """The server no longer serves the kind, so none of its objects exist."""
        if self.available:
            self.available = False
            self.reset()
        self._ready.set()

    def reset(self) -> None:
        """Removes all objects; every watch must list again."""
        self.epoch += 1
        self._deleted.clear()
        for key, entry in list(self._entries.items()):
            self._remove(key, entry)
        self._unlisted = set(range(len(self.scopes)))

    def report_problem(self, scope: int, problem: str) -> None:
        self._problems[scope] = problem

    def _scope_bits(self, meta: ObjectMeta) -> int:
        if not self._is_accepted(meta):
            return 0
        if self.rule.field_selector:
            # Only the server evaluates field selectors: such a store ignores writes to objects that it does not hold.
            entry = self._entries.get(Key(meta.namespace, meta.name))
            return 0 if entry is None else entry.scopes
        return sum(1 << number for number, scope in enumerate(self.scopes) if scope.selects(meta))

    def _is_stale(self, meta: ObjectMeta) -> bool:
        if self._is_deleted(meta):
            return True
        entry = self._entries.get(Key(meta.namespace, meta.name))
        return entry is not None and not is_newer(meta.resource_version, entry.obj.metadata.resource_version)

    def _is_deleted(self, meta: ObjectMeta) -> bool:
        version = self._deleted.get(meta.uid)
        if version is None:
            return False
        # A terminating object still exists, so its events count even after our delete was answered.
        return not is_after(meta.resource_version, version) if version else meta.deletion_timestamp is None

    def _remember_deletion(self, uid: str, version: str) -> None:
        self._deleted[uid] = version
        if len(self._deleted) > REMEMBERED_DELETES:
            del self._deleted[next(iter(self._deleted))]

    def _set_entry(self, body: Body, obj: T, scopes: int, ownership: Ownership | None = None) -> None:
        key = key_of(obj)
        entry = self._entries.get(key)
        old, before = (None, NOT_OWNED) if entry is None else (entry.obj, entry.ownership)
        after = (
            self._decoder.ownership(body, obj, old, before)
            if ownership is None
            else self._decoder.kept(ownership, obj.metadata)
        )
        if entry is None:
            self._entries[key] = StoreEntry(obj, after, scopes)
        else:
            entry.obj, entry.ownership, entry.scopes = obj, after, entry.scopes | scopes
        self._losses.observe(key, before.main, after.main, body)
        for listener in self._body_listeners:
            self._call_body_listener(listener, obj, body)
        self._notify(key, old, obj, before != after)

    def _remove_scope(self, scope: int, key: Key, entry: StoreEntry[T]) -> None:
        entry.scopes &= ~(1 << scope)
        if not entry.scopes:
            self._remove(key, entry)

    def _remove(self, key: Key, entry: StoreEntry[T]) -> None:
        del self._entries[key]
        self._losses.forget(key)
        self._notify(key, entry.obj, None, entry.ownership != NOT_OWNED)

    def _notify(self, key: Key, old: T | None, new: T | None, owned_changed: bool) -> None:
        for index in self._indexes.values():
            index.update(key, old, new)
        change = ObjectChange(self.kind, key, old, new, bool(self._unlisted), owned_changed)
        for subscriber in self._subscribers:
            self._call(subscriber, change)

    def _call_body_listener(self, listener: Callable[[T, Body], None], obj: T, body: Body) -> None:
        try:
            listener(obj, body)
        except Exception:
            log.exception("a body listener of %s failed on %s", self.kind, key_of(obj))

    def _call(self, subscriber: Subscriber[T], change: ObjectChange[T]) -> None:
        try:
            subscriber(change)
        except Exception:
            log.exception("a subscriber to %s failed on %s", self.kind, change.key)
