"""Whether an apply would change anything: the manifest beside what we own of the live object. Pure but for memory.

SAME: the live object holds what we would apply, and we own exactly that. DIFFERENT: it certainly does not. UNSURE: only
the server can tell, because a default inside an atomic value, or a word of the schema, could explain it.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from steward.kube.apply.server_knowledge import Settled, Shape, digest_of_pair
from steward.kube.managed_fields.field_set_match import Doubt, Doubts, doubts_about, refuted_by
from steward.kube.managed_fields.ownership import (
    Claim,
    FieldSet,
    OwnedFields,
    digest_of,
    is_deep,
    with_numbered_owners,
)
from steward.kube.objects.kinds import Manifest, Ref, ref_of

# What names the object, or what only the server writes: it is in nobody's set of fields.
_IDENTITY: Final = frozenset(
    (
        "name",
        "namespace",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generateName",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    )
)


class Verdict(Enum):
    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"


def fields_of(manifest: Manifest) -> Manifest:
    """The part of a manifest that somebody can own."""
    fields = {
        name: value for name, value in manifest.items() if name not in ("apiVersion", "kind", "metadata")
    }
    metadata = {
        name: value for name, value in (manifest.get("metadata") or {}).items() if name not in _IDENTITY
    }
    return {**fields, "metadata": metadata} if metadata else fields


class Held(Struct, frozen=True, gc=False):
    """The fields of a manifest, held against a set of owned ones."""

    owned: FieldSet
    owners: tuple[str, ...]
    fields: Manifest
    """With the owners by number, as in the set."""
    doubts: Doubts
    values: list[Any]
    """At each path of the set, in canonical form; none where the fields cannot be the owned ones."""


def hold_against(claim: Claim | OwnedFields, fields: Manifest) -> Held:
    tree, numbered = claim.fields.tree, with_numbered_owners(fields, claim.owners)
    doubts, values = doubts_about(tree, numbered), list[Any]()
    if doubts is not None:
        tree.collect(numbered, values)
    return Held(claim.fields, claim.owners, numbered, doubts, values)


class Comparison:
    """One manifest, to be held against what we own of its object, before and after it was sent."""

    def __init__(self, manifest: Manifest, settled: Settled) -> None:
        self.ref: Ref = ref_of(manifest)
        self.manifest = manifest
        self._settled = settled
        self._held: Held | None = None

    def verdict(self, owned: OwnedFields | None) -> Verdict:
        if owned is None:
            return Verdict.DIFFERENT
        pair = digest_of_pair(self.manifest, owned)
        if self._settled.is_same(pair):
            return Verdict.SAME
        verdict = self._judge(owned)
        if verdict is Verdict.SAME:
            self._settled.learn_same(pair)
        return verdict

    def learn(self, claim: Claim, answered: list[Any], owned: OwnedFields) -> None:
        """Takes in what the server made of the manifest: sent again, it would change nothing."""
        if self._settled.shape(claim.fields) is not Shape.PLAIN:
            self._learn_of_kind(claim, answered)
        self.learn_same(owned)

    def learn_same(self, owned: OwnedFields) -> None:
        """Takes in that this is what we own once the manifest was sent: sent again, it would change nothing."""
        self._settled.learn_same(digest_of_pair(self.manifest, owned))

    def _learn_of_kind(self, claim: Claim, answered: list[Any]) -> None:
        kind, held = self.ref.kind, self._held_against(claim)
        self._settled.learn_schema(kind, held.doubts or (), self._refuted(held))
        if held.doubts is None:
            return
        learned = self._settled.learn_values(kind, claim.fields.paths, held.values, answered)
        is_plain = not (held.doubts or learned)
        self._settled.learn_shape(claim.fields, Shape.PLAIN if is_plain else Shape.MIXED)

    def _refuted(self, held: Held) -> Iterable[Doubt]:
        """What the owned set refutes. The same set refutes the same each time, but for the lists that are empty."""
        if held.doubts is None or [] in held.values:
            return refuted_by(held.owned.tree, held.fields)
        return refuted_by(held.owned.tree, held.fields) if self._settled.shape(held.owned) is None else ()

    def _held_against(self, claim: Claim | OwnedFields) -> "Held":
        """The last is kept: what we owned before an apply is mostly what we own after it."""
        last = self._held
        if last is None or last.owned is not claim.fields or last.owners != claim.owners:
            last = self._held = hold_against(claim, fields_of(self.manifest))
        return last

    def _judge(self, owned: OwnedFields) -> Verdict:
        held = self._held_against(owned)
        known = False if held.doubts is None else self._settled.hold(self.ref.kind, held.doubts)
        if known is False:
            return Verdict.DIFFERENT
        digest = digest_of(held.values, owned.fields.loose)
        if not owned.agrees_on_scalars(digest):
            return Verdict.DIFFERENT
        if digest != owned.digest:
            answered = digest_of(self._as_answered(owned, held.values), owned.fields.loose)
            if answered != owned.digest:
                return self._judge_difference(owned, held.values, answered)
        return Verdict.SAME if known else Verdict.UNSURE

    def _judge_difference(self, owned: OwnedFields, values: list[Any], answered: bytes) -> Verdict:
        if owned.agrees_but_for_loose_maps(answered) and _has_empty_map(owned, values):
            # What a map holds that we applied empty is a default or somebody else's, if it is not ours of before.
            return Verdict.UNSURE
        return Verdict.DIFFERENT if self._knows_all(owned, values) else Verdict.UNSURE

    def _as_answered(self, owned: OwnedFields, values: list[Any]) -> list[Any]:
        """The values as the server would store them, as far as it was seen."""
        answered = []
        for path, value in zip(owned.fields.paths, values, strict=True):
            may_grow = value is None or is_deep(value)
            became = self._settled.became(self.ref.kind, path, value) if may_grow else None
            answered.append(value if became is None else became[0])
        return answered

    def _knows_all(self, owned: OwnedFields, values: list[Any]) -> bool:
        return all(
            self._settled.became(self.ref.kind, path, value) is not None
            for path, value in zip(owned.fields.paths, values, strict=True)
            if is_deep(value)
        )


def _has_empty_map(owned: OwnedFields, values: list[Any]) -> bool:
    """Or what is spelt like one: nothing, for a built-in kind."""
    return any(values[place] is None or values[place] == {} for place in owned.fields.loose)
