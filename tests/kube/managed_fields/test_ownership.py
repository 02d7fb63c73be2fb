import gc
import weakref
from typing import Any

import msgspec
import pytest

from steward.kube.managed_fields.ownership import (
    Ownership,
    decode_owned_part,
    digest_values,
    intern_field_set,
    managed_entries,
    own_entries,
    owned_fields,
    with_numbered_owners,
)
from steward.kube.objects.kinds import CONFIG_MAP, Kind, Manifest

FIELDS: dict[str, Any] = {"f:data": {"f:a": {}}}


def body(fields: dict[str, Any], **entry: str) -> bytes:
    ours = {"manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields, **entry}
    return msgspec.json.encode({"metadata": {"managedFields": [ours]}})


def owned_by(uid: str) -> dict[str, Any]:
    return {"f:metadata": {"f:ownerReferences": {f'k:{{"uid":"{uid}"}}': {}}}}


def claimed(fields: dict[str, Any], **entry: str) -> Any:
    return own_entries(CONFIG_MAP, managed_entries(body(fields, **entry)), "us")


def test_our_claim_is_found_by_manager_operation_and_version() -> None:
    assert claimed(FIELDS)[""].fields.raw == b'{"f:data":{"f:a":{}}}'
    assert claimed(FIELDS, subresource="status").keys() == {"status"}
    assert claimed(FIELDS, manager="them") == {}
    assert claimed(FIELDS, operation="Update") == {}
    assert claimed(FIELDS, apiVersion="v2") == {}


def test_like_objects_share_their_fields() -> None:
    assert claimed(FIELDS)[""].fields is claimed(FIELDS)[""].fields
    assert intern_field_set(CONFIG_MAP, b"{}") is not intern_field_set(Kind("v1", "Secret"), b"{}")


def test_objects_of_different_owners_share_their_fields_too() -> None:
    one, other = claimed(owned_by("1-1"))[""], claimed(owned_by("2-2"))[""]

    assert one.fields is other.fields
    assert (one.owners, other.owners) == (("1-1",), ("2-2",))


def test_the_objects_of_one_owner_share_the_text_of_its_uid() -> None:
    one, other = (claimed(owned_by("4711-4711"))[""] for _ in range(2))
    assert one.owners[0] is other.owners[0]


def test_field_sets_that_no_object_has_any_more_are_freed() -> None:
    held = intern_field_set(CONFIG_MAP, b'{"f:data":{"f:nobody":{}}}')
    known = weakref.ref(held)
    del held
    gc.collect()

    assert known() is None


def test_the_digest_follows_the_owned_values_alone() -> None:
    claim = claimed(FIELDS)[""]

    def digest(data: Manifest) -> bytes:
        return owned_fields(claim, {"data": data}).digest

    assert digest({"a": "1", "b": "2"}) == digest({"a": "1"})
    assert digest({"a": "2"}) != digest({"a": "1"})


def test_the_digest_follows_the_owner() -> None:
    def owned(uid: str, name: str) -> Any:
        reference = {"uid": uid, "name": name}
        return owned_fields(claimed(owned_by(uid))[""], {"metadata": {"ownerReferences": [reference]}})

    assert owned("1-1", "a") == owned("1-1", "a")
    assert owned("1-1", "a") != owned("2-2", "a")
    assert owned("1-1", "a") != owned("1-1", "b")


def test_scalars_and_atomic_values_have_a_part_each() -> None:
    claim = claimed({"f:a": {}, "f:b": {}})[""]
    owned = owned_fields(claim, {"a": "x", "b": [1]})

    assert owned.has_same_scalars(digest_values(["x", [2]]))
    assert not owned.has_same_scalars(digest_values(["y", [1]]))
    assert not owned.has_same_scalars(digest_values(["x", 1]))


def test_shared_maps_have_their_own_part_of_the_digest() -> None:
    empty, filled = (
        digest_values(["x", {}, [1]], shared_maps={1}),
        digest_values(["x", {"a": 1}, [1]], shared_maps={1}),
    )

    assert empty == digest_values(["x", None, [1]], shared_maps={1})
    assert filled != empty
    assert filled.startswith(empty)


def test_an_atomic_value_elsewhere_is_another_object() -> None:
    assert digest_values([[1], None]) != digest_values([None, [1]])


def test_the_order_of_keys_in_a_map_does_not_count() -> None:
    assert digest_values([{"a": 1, "b": 2}]) == digest_values([{"b": 2, "a": 1}])


def test_ownership_is_kept_by_subresource() -> None:
    owned = owned_fields(claimed(FIELDS)[""], {})

    assert Ownership(main=owned).for_subresource("") is owned
    assert Ownership(main=owned).for_subresource("status") is None
    assert Ownership(status=owned).for_subresource("status") is owned


def test_an_object_without_managed_fields_has_no_entries() -> None:
    assert managed_entries(b'{"metadata": {"name": "a"}}') == []


def test_a_manifest_that_names_no_owner_any_more_is_only_different() -> None:
    owners = ("1-1",)

    assert with_numbered_owners({"data": {}}, owners) == {"data": {}}
    assert with_numbered_owners({"metadata": {"labels": {}}}, owners)["metadata"]["ownerReferences"] == []
    assert with_numbered_owners({"metadata": {"ownerReferences": ["odd"]}}, owners) == {
        "metadata": {"ownerReferences": ["odd"]}
    }


@pytest.mark.parametrize(("own", "decoded"), [(("status",), {"metadata", "status"}), (("", "status"), None)])
def test_only_the_part_that_we_can_own_is_decoded(own: tuple[str, ...], decoded: set[str] | None) -> None:
    obj = {"kind": "Thing", "metadata": {"name": "a"}, "spec": {"size": 1}, "status": {"phase": "Ready"}}
    part = decode_owned_part(msgspec.json.encode(obj), own)
    assert part == {name: value for name, value in obj.items() if decoded is None or name in decoded}


@pytest.mark.parametrize("own", [("status",), ("",)])
def test_managed_fields_are_not_decoded(own: tuple[str, ...]) -> None:
    body = {"metadata": {"name": "a", "managedFields": [{"manager": "m"}]}, "status": {}}
    assert decode_owned_part(msgspec.json.encode(body), own)["metadata"] == {"name": "a"}
