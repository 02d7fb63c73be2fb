import msgspec
import pytest

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import (
    Metadata,
    ObjectMeta,
    OwnerReference,
    controller_of,
    is_after,
    is_newer,
    key_of,
)

BODY = b"""{"kind": "Pod", "metadata": {"name": "a", "namespace": "n", "resourceVersion": "7", "generation": 2,
 "deletionTimestamp": "2026-01-01T00:00:00Z", "labels": {"x": "y"}, "finalizers": ["f"],
 "ownerReferences": [{"kind": "A", "uid": "1"}, {"kind": "B", "uid": "2", "controller": true}]},
 "spec": {"anything": [1, 2, 3]}}"""


def test_a_view_holds_the_metadata_and_skips_the_rest() -> None:
    meta = msgspec.json.decode(BODY, type=Metadata).metadata

    assert (meta.name, meta.namespace, meta.resource_version, meta.generation) == ("a", "n", "7", 2)
    assert (meta.labels, meta.finalizers) == ({"x": "y"}, ("f",))
    assert meta.deletion_timestamp == "2026-01-01T00:00:00Z"


def test_every_field_has_a_default() -> None:
    meta = msgspec.json.decode(b"{}", type=Metadata).metadata

    assert meta == ObjectMeta()
    assert (meta.labels.get("x"), meta.deletion_timestamp) == (None, None)


def test_key_of_names_the_object() -> None:
    assert key_of(msgspec.json.decode(BODY, type=Metadata)) == Key("n", "a")


def test_the_controller_is_the_owner_with_the_controller_flag() -> None:
    meta = msgspec.json.decode(BODY, type=Metadata).metadata

    assert controller_of(meta) == OwnerReference(kind="B", uid="2", controller=True)
    assert controller_of(ObjectMeta()) is None


@pytest.mark.parametrize(
    ("version", "than", "newer", "after"),
    [
        ("10", "9", True, True),
        ("9", "10", False, False),
        ("9", "9", False, False),
        ("abc", "abd", True, False),
        ("abc", "abc", False, False),
        ("abc", "9", True, False),
    ],
)
def test_versions_compare_as_numbers_and_any_other_version_counts_as_newer(
    version: str, than: str, newer: bool, after: bool
) -> None:
    assert is_newer(version, than) is newer
    assert is_after(version, than) is after
