"""Decoding of views and owned fields."""

from typing import Any

import msgspec
from msgspec import Struct

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.view_decoder import ViewDecoder
from steward.kube.managed_fields.ownership import NOT_OWNED, Ownership
from steward.kube.objects.kinds import CONFIG_MAP, DEPLOYMENT, Kind
from steward.kube.objects.meta import Metadata, ObjectMeta

FIELDS: dict[str, Any] = {"f:spec": {"f:replicas": {}}, "f:metadata": {"f:labels": {"f:a": {}}}}


def body(generation: int = 1, replicas: int = 1, **more: Any) -> bytes:
    entry = {
        "manager": "us",
        "operation": "Apply",
        "apiVersion": "apps/v1",
        "fieldsV1": more.pop("fields", FIELDS),
    }
    metadata = {
        "name": "a",
        "uid": "u",
        "generation": generation,
        "labels": {"a": "b"},
        "managedFields": [entry],
    }
    metadata.update(more.pop("metadata", {}))
    return msgspec.json.encode({"metadata": metadata, "spec": {"replicas": replicas}, **more})


def decoder(kind: Kind = DEPLOYMENT, owned_by: str = "us") -> ViewDecoder[Metadata]:
    return ViewDecoder(CacheRule(kind, Metadata, owned_by=owned_by))


def ownership(raw: bytes, old: bytes | None = None) -> Ownership:
    decode = decoder()
    before = NOT_OWNED if old is None else decode.ownership(old, decode.view(old), None, NOT_OWNED)
    return decode.ownership(raw, decode.view(raw), None if old is None else decode.view(old), before)


def test_equal_strings_are_one_string() -> None:
    decode = decoder()
    one, other = (
        decode.view(body(metadata={"namespace": "team-namespace", "labels": {"a": "value-of-many"}}))
        for _ in range(2)
    )

    assert one.metadata.namespace is other.metadata.namespace
    assert one.metadata.labels["a"] is other.metadata.labels["a"]


def test_objects_share_keys_that_are_too_long_for_the_cache_of_the_decoder() -> None:
    decode, key = decoder(), "example.com/a-key-that-is-too-long-for-the-cache-of-the-decoder"
    one, other = (decode.view(body(metadata={"labels": {key: "value"}})).metadata.labels for _ in range(2))
    assert next(iter(one)) is next(iter(other))


def test_objects_share_equal_annotations_finalizers_and_the_texts_of_owner_references() -> None:
    decode = decoder()
    owner = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "the-thing", "uid": "uid-of-the-thing"}
    shared = {
        "annotations": {"example.com/a": "b"},
        "finalizers": ["example.com/f"],
        "ownerReferences": [owner],
    }
    one, other = (decode.view(body(metadata=shared)).metadata for _ in range(2))

    assert one.annotations == {"example.com/a": "b"}
    assert one.annotations is other.annotations
    assert one.finalizers == ("example.com/f",)
    assert one.finalizers is other.finalizers
    assert one.owner_references[0].uid == "uid-of-the-thing"
    assert one.owner_references[0].uid is other.owner_references[0].uid


def test_long_annotations_are_not_kept_for_other_objects() -> None:
    decode = decoder()
    one, other = (
        decode.view(body(metadata={"annotations": {"example.com/a": "b" * 100}})).metadata for _ in range(2)
    )

    assert one.annotations == other.annotations
    assert one.annotations is not other.annotations


def test_without_a_field_manager_nothing_is_owned() -> None:
    decode = decoder(owned_by="")

    assert decode.ownership(body(), decode.view(body()), None, NOT_OWNED) is NOT_OWNED


def test_an_object_that_other_managers_apply_is_not_owned() -> None:
    decode = decoder(owned_by="them")

    assert decode.ownership(body(), decode.view(body()), None, NOT_OWNED) is NOT_OWNED


def test_a_change_of_status_alone_spares_the_digest() -> None:
    first = ownership(body(status={"replicas": 1}))
    decode = decoder()
    raw = body(status={"replicas": 2})

    assert decode.ownership(raw, decode.view(raw), decode.view(body()), first) is first


def test_a_new_generation_is_compared_by_values() -> None:
    assert ownership(body(2, 5), old=body(1, 1)) == ownership(body(2, 5))
    assert ownership(body(2, 5), old=body(1, 1)) != ownership(body(1, 1))


def test_a_changed_label_is_compared_by_values() -> None:
    relabelled = body(metadata={"labels": {"a": "c"}})

    assert ownership(relabelled, old=body()) == ownership(relabelled)


def test_an_object_without_a_generation_is_compared_by_values() -> None:
    assert ownership(body(0, 2), old=body(0, 1)) == ownership(body(0, 2))


def test_fields_outside_of_the_spec_are_compared_by_values() -> None:
    fields = {"f:data": {"f:a": {}}}
    old, new = body(fields=fields, data={"a": "1"}), body(fields=fields, data={"a": "2"})

    assert ownership(new, old=old) == ownership(new) != ownership(old)


class Hashed(Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    digest: str = ""


def test_an_object_can_be_made_smaller_before_it_is_decoded() -> None:
    def reduce(raw: bytes) -> bytes:
        whole = msgspec.json.decode(raw)
        return msgspec.json.encode({"metadata": whole["metadata"], "digest": str(len(whole["data"]["a"]))})

    decode = ViewDecoder(CacheRule(CONFIG_MAP, Hashed, reduce=reduce))

    assert decode.view(body(data={"a": "12345"})).digest == "5"


STATUS_ENTRY = {
    "manager": "us",
    "operation": "Apply",
    "apiVersion": "apps/v1",
    "subresource": "status",
    "fieldsV1": {"f:status": {"f:replicas": {}}},
}


def body_with_status(name: str, replicas: int) -> bytes:
    spec_entry = {"manager": "us", "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": FIELDS}
    managed = {"name": name, "managedFields": [spec_entry, STATUS_ENTRY]}
    return body(metadata=managed, status={"replicas": replicas})


def test_owned_status_fields_are_kept_only_of_objects_whose_status_this_process_applies() -> None:
    rule = CacheRule(DEPLOYMENT, Metadata, owned_by="us", reports=lambda meta: meta.name == "own")
    decode = ViewDecoder(rule)

    def found(name: str) -> Ownership:
        raw = body_with_status(name, 1)
        return decode.ownership(raw, decode.view(raw), None, NOT_OWNED)

    own, other = found("own"), found("other")
    assert own.status is not None
    assert other.status is None
    assert other.main == own.main
    assert decode.kept(own, ObjectMeta(name="own")) is own
    assert decode.kept(own, ObjectMeta(name="other")) == Ownership(own.main)


def test_a_change_of_a_status_that_this_process_does_not_apply_decodes_no_fields() -> None:
    decode = ViewDecoder(CacheRule(DEPLOYMENT, Metadata, owned_by="us", reports=lambda _: False))
    one, other = body_with_status("a", 1), body_with_status("a", 2)
    first = decode.ownership(one, decode.view(one), None, NOT_OWNED)
    assert decode.ownership(other, decode.view(other), decode.view(one), first) is first
