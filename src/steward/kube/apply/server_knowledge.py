"""Remembers how the API server answered earlier applies, so that it is asked each question once.

All of it is cache: bounded, and a restarted process asks again. It holds

- what the schema of a kind says (`SchemaQuestion` in `managed_fields.field_set_match`);
- what the server stored for an atomic value, to which it adds defaults, for all objects of a kind alike;
- that a manifest changes nothing while its object has certain owned fields and values. That saves comparing every
  field again, and is the only possible knowledge where a mutating webhook rewrites the manifest;
- whether the answers for a field set can teach anything at all (`FieldSetShape`).
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from hashlib import blake2b
from typing import Any, Final

import msgspec

from steward.kube.bounded_cache import LruCache
from steward.kube.managed_fields.field_set_match import SchemaQuestion
from steward.kube.managed_fields.ownership import FieldSet, OwnedFields, is_container
from steward.kube.objects.canonical import Path
from steward.kube.objects.kinds import Kind, Manifest

CAPACITY: Final = 20_000

# A value that the server stored unchanged is not kept: that would hold the atomic lists of a fleet a second time.
_UNCHANGED: Final = ()

# Atomic values of metadata are the same for every kind, and the server adds no defaults to them.
_NEVER_DEFAULTED: Final = "metadata"

_encode = msgspec.json.Encoder(order="sorted").encode


def noop_digest(manifest: Manifest, owned: OwnedFields) -> bytes:
    """Identifies a manifest together with the owned fields of its object and their values."""
    digest = blake2b(msgspec.json.encode(manifest), digest_size=16)
    digest.update(msgspec.json.encode((hash(owned.fields.raw), owned.owners, owned.digest)))
    return digest.digest()


class FieldSetShape(Enum):
    """Whether another answer for the same field set can teach anything about the kind."""

    SIMPLE = "simple"
    """No atomic values and no schema questions: further answers teach nothing."""
    COMPLEX = "complex"


class ServerKnowledge:
    def __init__(self, size: int = CAPACITY) -> None:
        self._schema: LruCache[tuple[Kind, SchemaQuestion], bool] = LruCache(size)
        self._stored_as: LruCache[tuple[Kind, Path, bytes], tuple[Any, ...]] = LruCache(size)
        self._noops: LruCache[bytes, bool] = LruCache(size)
        self._shapes: LruCache[FieldSet, FieldSetShape] = LruCache(size)

    def schema_answer(self, kind: Kind, questions: list[SchemaQuestion]) -> bool | None:
        """Whether the answer to all questions is yes for this kind; None when one of them is still open."""
        answers = [self._schema.get((kind, question)) for question in questions]
        if False in answers:
            return False
        return None if None in answers else True

    def remember_schema(
        self, kind: Kind, confirmed: Iterable[SchemaQuestion], refuted: Iterable[SchemaQuestion]
    ) -> None:
        for question in confirmed:
            self._schema.set((kind, question), True)
        for question in refuted:
            self._schema.set((kind, question), False)

    def shape_of(self, owned: FieldSet) -> FieldSetShape | None:
        """None for a new field set: a fleet has few sets and many objects."""
        return self._shapes.get(owned)

    def remember_shape(self, owned: FieldSet, shape: FieldSetShape) -> None:
        self._shapes.set(owned, shape)

    def stored_as(self, kind: Kind, path: Path, value: Any) -> tuple[Any, ...] | None:
        """What the server stores for an atomic value, in a tuple because that can be None; None when unknown."""
        if path[0] == _NEVER_DEFAULTED:
            return (value,)
        stored = self._stored_as.get((kind, path, _digest(value)))
        return (value,) if stored == _UNCHANGED else stored

    def remember_values(
        self, kind: Kind, paths: list[Path], sent: list[Any], answered: list[Any]
    ) -> Sequence[Path]:
        """Returns the paths of the values that may get defaults."""
        learned = []
        for path, sent_value, stored_value in zip(paths, sent, answered, strict=True):
            may_grow = is_container(sent_value) or (sent_value is None and is_container(stored_value))
            if may_grow and path[0] != _NEVER_DEFAULTED:
                digest = _digest(sent_value)
                # Digests, because 1, 1.0 and True are equal in Python.
                is_unchanged = digest == _digest(stored_value)
                self._stored_as.set((kind, path, digest), _UNCHANGED if is_unchanged else (stored_value,))
                learned.append(path)
        return learned

    def is_noop(self, digest: bytes) -> bool:
        """Whether the apply with this `noop_digest` is known to change nothing."""
        return self._noops.get(digest) is not None

    def remember_noop(self, digest: bytes) -> None:
        self._noops.set(digest, True)


def _digest(value: Any) -> bytes:
    return blake2b(_encode(value), digest_size=12).digest()
