"""What the server was seen to make of what we send: the memory that spares asking twice.

Three things are remembered, all of them bounded, none of them needed: a process that starts anew asks once more.
What the schema of a kind says (see `shape`); what became of an atomic value (defaults are added inside it), for all
objects of a kind alike; and that a manifest changes nothing while its object is as it is, which spares looking at
every field again, and is all that can be known where a webhook rewrites what we send.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from enum import Enum
from hashlib import blake2b
from typing import Any, Final, Generic, TypeVar

import msgspec

from steward.kube.managed_fields.field_set_match import Doubt
from steward.kube.managed_fields.ownership import FieldSet, OwnedFields, is_deep
from steward.kube.objects.canonical import Path
from steward.kube.objects.kinds import Kind, Manifest

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED: Final = 20_000

# What the server left as it was is not kept: a fleet of objects with atomic lists would be held whole a second time.
_AS_SENT: Final = ()

# Of all atomic values only those of metadata are the same for every kind, and the server adds nothing to them.
_NEVER_DEFAULTED: Final = "metadata"

_encode = msgspec.json.Encoder(order="sorted").encode


def digest_of_pair(manifest: Manifest, owned: OwnedFields) -> bytes:
    """One value for a manifest and what we own of its object: equal only for the same of both."""
    digest = blake2b(msgspec.json.encode(manifest), digest_size=16)
    digest.update(msgspec.json.encode((hash(owned.fields.raw), owned.owners, owned.digest)))
    return digest.digest()


class Memory(Generic[K, V]):
    """A dict that forgets what was longest unused."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        value = self._held.get(key)
        if value is not None:
            self._held.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        self._held[key] = value
        self._held.move_to_end(key)
        if len(self._held) > self._size:
            self._held.popitem(last=False)


class Shape(Enum):
    """What a manifest with these fields teaches that no other with the same fields has taught."""

    PLAIN = "plain"
    """Nothing: no atomic values, nothing that only the schema tells."""
    MIXED = "mixed"


class Settled:
    def __init__(self, size: int = REMEMBERED) -> None:
        self._schema: Memory[tuple[Kind, Doubt], bool] = Memory(size)
        self._became: Memory[tuple[Kind, Path, bytes], tuple[Any, ...]] = Memory(size)
        self._same: Memory[bytes, bool] = Memory(size)
        self._shapes: Memory[FieldSet, Shape] = Memory(size)

    def hold(self, kind: Kind, doubts: list[Doubt]) -> bool | None:
        """Whether all of this is true of the kind; None when it was not seen yet."""
        seen = [self._schema.get((kind, doubt)) for doubt in doubts]
        if False in seen:
            return False
        return None if None in seen else True

    def learn_schema(self, kind: Kind, confirmed: Iterable[Doubt], refuted: Iterable[Doubt]) -> None:
        for doubt in confirmed:
            self._schema.put((kind, doubt), True)
        for doubt in refuted:
            self._schema.put((kind, doubt), False)

    def shape(self, owned: FieldSet) -> Shape | None:
        """None when this set is met for the first time: a fleet has few sets and many objects."""
        return self._shapes.get(owned)

    def learn_shape(self, owned: FieldSet, shape: Shape) -> None:
        self._shapes.put(owned, shape)

    def became(self, kind: Kind, path: Path, value: Any) -> tuple[Any, ...] | None:
        """What the server made of an atomic value, in a tuple since that may be nothing at all."""
        if path[0] == _NEVER_DEFAULTED:
            return (value,)
        found = self._became.get((kind, path, _digest(value)))
        return (value,) if found == _AS_SENT else found

    def learn_values(
        self, kind: Kind, paths: list[Path], sent: list[Any], answered: list[Any]
    ) -> Sequence[Path]:
        """The paths of those values that there was something to learn about."""
        learned = []
        for path, mine, theirs in zip(paths, sent, answered, strict=True):
            may_grow = is_deep(mine) or (mine is None and is_deep(theirs))
            if may_grow and path[0] != _NEVER_DEFAULTED:
                sent_as = _digest(mine)
                is_left = sent_as == _digest(theirs)  # to Python 1, 1.0 and True are all the same
                self._became.put((kind, path, sent_as), _AS_SENT if is_left else (theirs,))
                learned.append(path)
        return learned

    def is_same(self, manifest: bytes) -> bool:
        """Whether this manifest is known to change nothing: by `digest_of_pair` with what we own of its object."""
        return self._same.get(manifest) is not None

    def learn_same(self, manifest: bytes) -> None:
        self._same.put(manifest, True)


def _digest(value: Any) -> bytes:
    return blake2b(_encode(value), digest_size=12).digest()
