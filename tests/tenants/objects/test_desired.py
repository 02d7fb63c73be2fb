from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import NAMESPACE, Kind
from steward.tenants.api.resource import TResource
from steward.tenants.labels import BUCKET
from steward.tenants.objects.desired import ObjectScope, desired_objects, duplicate_objects
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.rendering.secret_payload import SecretPayload
from tests.tenants.support.fleet import config_map, namespace_manifest, resource

OWNER = TenantOwner("acme-web", "saas", "uid-1")
SCOPE = ObjectScope(OWNER, {NAMESPACE}, SecretPayload())


def typed(found: dict[str, Any]) -> TResource:
    return msgspec.convert(found, TResource)


def assembled(found: dict[str, Any]) -> dict[str, Any]:
    return desired_objects([typed(found)], SCOPE)[0].manifest["metadata"]


@pytest.mark.parametrize(
    ("found", "namespace", "is_owned"),
    [
        (resource("a", config_map("a")), "saas", True),
        (resource("a", config_map("a", "other")), "other", False),
        (resource("a", config_map("a"), deletionPolicy="Retain"), "saas", False),
        (resource("a", namespace_manifest("a")), None, False),
    ],
    ids=["same namespace", "another namespace", "retained", "cluster-scoped"],
)
def test_every_object_has_tracking_labels_and_an_owner_only_where_allowed(
    found: dict[str, Any], namespace: str | None, is_owned: bool
) -> None:
    metadata = assembled(found)
    assert metadata.get("namespace") == namespace
    assert metadata["labels"]["kubernetes-tenants.org/tenant"] == "acme-web"
    assert metadata["labels"]["kubernetes-tenants.org/tenant-namespace"] == "saas"
    assert [owner["uid"] for owner in metadata.get("ownerReferences", ())] == ["uid-1"] * is_owned


def test_the_bucket_label_is_set_only_with_shards() -> None:
    split = SCOPE._replace(owner=OWNER._replace(bucket="7"))
    (whole,) = desired_objects([typed(resource("a", config_map("a")))], SCOPE)
    (part,) = desired_objects([typed(resource("a", config_map("a")))], split)
    assert BUCKET not in whole.manifest["metadata"]["labels"]
    assert part.manifest["metadata"]["labels"][BUCKET] == "7"


def test_the_policies_are_annotations_of_the_object() -> None:
    annotations = assembled(resource("a", config_map("a"), deletionPolicy="Retain", creationPolicy="Once"))[
        "annotations"
    ]
    assert annotations == {
        "kubernetes-tenants.org/deletion-policy": "Retain",
        "kubernetes-tenants.org/created-once": "true",
    }


def test_a_secret_without_its_payload_is_not_complete() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    (missing,) = desired_objects([typed(resource("s", secret))], SCOPE)
    assert not missing.is_complete
    payload = SecretPayload().with_secret("s", {"k": "dg=="})
    (whole,) = desired_objects([typed(resource("s", secret))], SCOPE._replace(payload=payload))
    assert (whole.is_complete, whole.manifest["data"]) == (True, {"k": "dg=="})


def test_of_two_resources_that_name_one_object_the_second_is_a_duplicate() -> None:
    found = desired_objects([typed(resource(id, config_map("same"))) for id in ("a", "b", "c")], SCOPE)
    assert duplicate_objects(found) == {"b": "a", "c": "a"}


def test_the_key_of_an_object_is_kind_namespace_name_and_id() -> None:
    custom = {"apiVersion": "example.org/v1", "kind": "Database", "metadata": {"name": "db"}}
    (found,) = desired_objects([typed(resource("main", custom))], SCOPE)
    assert found.applied_ref.key == "Database/saas/db@main"
    assert found.ref.kind == Kind("example.org/v1", "Database")
