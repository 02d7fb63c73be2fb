"""Decides whether an apply would change anything: compares a manifest with the fields that we own of the live object.

SAME: we own exactly the fields of the manifest, and they have its values. DIFFERENT: certainly not. UNSURE: only the
API server knows, because a default inside an atomic value, or the schema, could explain the difference.

Pure, except that it reads and fills `ServerKnowledge`.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from steward.kube.apply.server_knowledge import FieldSetShape, ServerKnowledge, noop_digest
from steward.kube.managed_fields.field_set_match import (
    SchemaQuestion,
    SchemaQuestions,
    refuted_questions,
    schema_questions,
)
from steward.kube.managed_fields.ownership import (
    FieldSet,
    OwnedFields,
    OwnEntry,
    digest_values,
    is_container,
    with_numbered_owners,
)
from steward.kube.objects.kinds import Manifest, Ref, ref_of

# Fields that identify the object or that only the API server writes: no field manager owns them.
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


class ComparisonResult(Enum):
    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"


def ownable_fields(manifest: Manifest) -> Manifest:
    """The fields of a manifest that a field manager can own."""
    fields = {
        name: value for name, value in manifest.items() if name not in ("apiVersion", "kind", "metadata")
    }
    metadata = {
        name: value for name, value in (manifest.get("metadata") or {}).items() if name not in _IDENTITY
    }
    return {**fields, "metadata": metadata} if metadata else fields


class Projection(Struct, frozen=True, gc=False):
    """The fields of a manifest, read along the tree of a set of owned fields."""

    owned: FieldSet
    owners: tuple[str, ...]
    fields: Manifest
    """With owner uids replaced by numbers, as in the set."""
    questions: SchemaQuestions
    values: list[Any]
    """The manifest's value at each path of the set, in canonical form; empty when the field sets certainly differ."""


def project(entry: OwnEntry | OwnedFields, fields: Manifest) -> Projection:
    tree, numbered = entry.fields.tree, with_numbered_owners(fields, entry.owners)
    questions, values = schema_questions(tree, numbered), list[Any]()
    if questions is not None:
        tree.collect(numbered, values)
    return Projection(entry.fields, entry.owners, numbered, questions, values)


class Comparison:
    """Compares one manifest with the fields that we own of its object, before and after the apply."""

    def __init__(self, manifest: Manifest, knowledge: ServerKnowledge) -> None:
        self.ref: Ref = ref_of(manifest)
        self.manifest = manifest
        self._knowledge = knowledge
        self._projection: Projection | None = None

    def compare(self, owned: OwnedFields | None) -> ComparisonResult:
        if owned is None:
            return ComparisonResult.DIFFERENT
        digest = noop_digest(self.manifest, owned)
        if self._knowledge.is_noop(digest):
            return ComparisonResult.SAME
        result = self._compare_values(owned)
        if result is ComparisonResult.SAME:
            self._knowledge.remember_noop(digest)
        return result

    def remember_answer(self, entry: OwnEntry, answered: list[Any], owned: OwnedFields) -> None:
        """Remembers what the API server stored for the manifest: applying it again would change nothing."""
        if self._knowledge.shape_of(entry.fields) is not FieldSetShape.SIMPLE:
            self._remember_schema_and_values(entry, answered)
        self.remember_noop(owned)

    def remember_noop(self, owned: OwnedFields) -> None:
        """Remembers that applying this manifest changes nothing while we own these fields with these values."""
        self._knowledge.remember_noop(noop_digest(self.manifest, owned))

    def _remember_schema_and_values(self, entry: OwnEntry, answered: list[Any]) -> None:
        kind, projection = self.ref.kind, self._project_on(entry)
        self._knowledge.remember_schema(kind, projection.questions or (), self._refuted_questions(projection))
        if projection.questions is None:
            return
        learned = self._knowledge.remember_values(kind, entry.fields.paths, projection.values, answered)
        is_simple = not (projection.questions or learned)
        self._knowledge.remember_shape(
            entry.fields, FieldSetShape.SIMPLE if is_simple else FieldSetShape.COMPLEX
        )

    def _refuted_questions(self, projection: Projection) -> Iterable[SchemaQuestion]:
        """The same field set refutes the same questions each time, except for those about empty lists."""
        if projection.questions is None or [] in projection.values:
            return refuted_questions(projection.owned.tree, projection.fields)
        return (
            refuted_questions(projection.owned.tree, projection.fields)
            if self._knowledge.shape_of(projection.owned) is None
            else ()
        )

    def _project_on(self, entry: OwnEntry | OwnedFields) -> "Projection":
        """The last projection is kept: the field set after an apply is mostly that from before it."""
        last = self._projection
        if last is None or last.owned is not entry.fields or last.owners != entry.owners:
            last = self._projection = project(entry, ownable_fields(self.manifest))
        return last

    def _compare_values(self, owned: OwnedFields) -> ComparisonResult:
        projection = self._project_on(owned)
        if projection.questions is None:
            return ComparisonResult.DIFFERENT
        is_same_set = self._knowledge.schema_answer(self.ref.kind, projection.questions)
        if is_same_set is False:
            return ComparisonResult.DIFFERENT
        digest = digest_values(projection.values, owned.fields.shared_maps)
        if not owned.has_same_scalars(digest):
            return ComparisonResult.DIFFERENT
        if digest != owned.digest:
            stored = digest_values(self._as_stored(owned, projection.values), owned.fields.shared_maps)
            if stored != owned.digest:
                return self._classify_difference(owned, projection.values, stored)
        return ComparisonResult.SAME if is_same_set else ComparisonResult.UNSURE

    def _classify_difference(self, owned: OwnedFields, values: list[Any], stored: bytes) -> ComparisonResult:
        if owned.matches_except_shared_maps(stored) and _has_empty_map(owned, values):
            # We applied the map empty. Its live content is a default, another manager's, or ours from an earlier apply.
            return ComparisonResult.UNSURE
        return (
            ComparisonResult.DIFFERENT if self._all_values_known(owned, values) else ComparisonResult.UNSURE
        )

    def _as_stored(self, owned: OwnedFields, values: list[Any]) -> list[Any]:
        """The values as the API server would store them, as far as that is known."""
        stored_values = []
        for path, value in zip(owned.fields.paths, values, strict=True):
            may_grow = value is None or is_container(value)
            stored = self._knowledge.stored_as(self.ref.kind, path, value) if may_grow else None
            stored_values.append(value if stored is None else stored[0])
        return stored_values

    def _all_values_known(self, owned: OwnedFields, values: list[Any]) -> bool:
        return all(
            self._knowledge.stored_as(self.ref.kind, path, value) is not None
            for path, value in zip(owned.fields.paths, values, strict=True)
            if is_container(value)
        )


def _has_empty_map(owned: OwnedFields, values: list[Any]) -> bool:
    """Counts an absent value too: it is the canonical form of an empty map for a built-in kind."""
    return any(values[position] is None or values[position] == {} for position in owned.fields.shared_maps)
