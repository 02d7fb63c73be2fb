import pytest

from steward.certificates.options import CertificateOwner, KeeperOptions
from steward.certificates.secret_store import with_ownership

OWNER = CertificateOwner("apps/v1", "Deployment", "operator", "uid-2")
OURS = OWNER.reference()
GONE = {**OURS, "uid": "uid-1"}
SHARD = {"apiVersion": "x/v1", "kind": "Shard", "name": "s", "uid": "uid-9", "controller": True}


@pytest.mark.parametrize(
    ("present", "wanted"),
    [
        ([], [OURS]),
        ([OURS], [OURS]),
        ([GONE], [OURS]),
        ([SHARD], [SHARD, {**OURS, "controller": False}]),
        ([{**OURS, "controller": False}], [{**OURS, "controller": False}]),
    ],
)
def test_the_owner_is_referenced_once_and_a_deleted_one_is_replaced(present, wanted):
    options = KeeperOptions("shop", "ca", (), owner=OWNER)
    assert with_ownership({"ownerReferences": present}, options)["ownerReferences"] == wanted


def test_foreign_metadata_is_kept():
    options = KeeperOptions("shop", "ca", (), labels={"a": "ours"})
    metadata = {"name": "tls", "labels": {"a": "old", "b": "theirs"}, "annotations": {"c": "theirs"}}
    assert with_ownership(metadata, options) == {
        "name": "tls",
        "labels": {"a": "ours", "b": "theirs"},
        "annotations": {"c": "theirs", "cert-strategy": "self-signed"},
    }


def test_without_an_owner_the_references_are_not_touched():
    assert with_ownership({"ownerReferences": [SHARD]}, KeeperOptions("shop", "ca", ()))[
        "ownerReferences"
    ] == [SHARD]
