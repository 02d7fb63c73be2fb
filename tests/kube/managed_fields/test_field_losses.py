import json
from typing import Any

import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.managed_fields.field_losses import FieldPath, format_path, has_field, taken_fields
from steward.kube.objects.kinds import DEPLOYMENT, Key
from steward.kube.objects.meta import Metadata

KEY = Key("shop", "app")
REPLICAS = {"f:spec": {"f:replicas": {}}}
PAUSED = {"f:spec": {"f:paused": {}}}
BOTH = {"f:spec": {"f:replicas": {}, "f:paused": {}}}
PORT = 'k:{"port":80,"protocol":"TCP"}'
MANIFEST = {
    "spec": {"replicas": 1, "paused": False, "ports": [{"port": 80, "name": "http"}], "hosts": ["a", "b"]}
}


class CachedDeployment:
    """A Deployment in a cache of a field manager named "us"."""

    def __init__(self) -> None:
        self.store: Store[Metadata] = Store(CacheRule(DEPLOYMENT, Metadata, owned_by="us"))
        self.store.finish_list(0, set(), "1")
        self._version = 1

    def watch(self, managers: dict[str, Any], subresource: str = "") -> None:
        """A watch event with these managers."""
        self._version += 1
        entries = [
            {
                "manager": name,
                "operation": "Apply" if name == "us" else "Update",
                "apiVersion": "apps/v1",
                "subresource": "" if name == "us" else subresource,
                "fieldsV1": fields,
            }
            for name, fields in managers.items()
        ]
        metadata = {
            "name": KEY.name,
            "namespace": KEY.namespace,
            "uid": "u",
            "resourceVersion": str(self._version),
            "generation": self._version,
            "managedFields": entries,
        }
        self.store.put_watched(0, json.dumps({"metadata": metadata, **MANIFEST}).encode())

    @property
    def taken(self) -> tuple[tuple[str, str], ...]:
        return taken_fields(self.store.lost_fields(KEY), MANIFEST)


@pytest.fixture
def cached() -> CachedDeployment:
    found = CachedDeployment()
    found.watch({"us": BOTH})
    return found


def test_a_field_that_another_manager_takes_is_known_with_its_manager(cached: CachedDeployment) -> None:
    assert cached.taken == ()
    cached.watch({"us": PAUSED, "kubectl": REPLICAS})
    assert cached.taken == (("kubectl", ".spec.replicas"),)


def test_fields_taken_one_after_the_other_are_all_known(cached: CachedDeployment) -> None:
    cached.watch({"us": PAUSED, "kubectl": REPLICAS})
    cached.watch({"us": {}, "kubectl": REPLICAS, "autoscaler": PAUSED})
    assert set(cached.taken) == {("kubectl", ".spec.replicas"), ("autoscaler", ".spec.paused")}


def test_the_last_of_our_fields_can_be_taken(cached: CachedDeployment) -> None:
    cached.watch({"kubectl": BOTH})
    assert len(cached.taken) == 2


def test_a_field_that_we_own_again_is_not_taken(cached: CachedDeployment) -> None:
    cached.watch({"us": PAUSED, "kubectl": REPLICAS})
    cached.watch({"us": BOTH})
    assert not cached.store.lost_fields(KEY)


def test_a_field_that_the_other_manager_has_released_is_not_taken(cached: CachedDeployment) -> None:
    cached.watch({"us": PAUSED, "kubectl": REPLICAS})
    cached.watch({"us": PAUSED})
    assert not cached.store.lost_fields(KEY)


def test_a_field_that_we_stopped_to_apply_is_not_taken(cached: CachedDeployment) -> None:
    cached.watch({"us": PAUSED})
    assert not cached.store.lost_fields(KEY)


def test_a_field_that_is_not_applied_any_more_cannot_be_taken_back(cached: CachedDeployment) -> None:
    cached.watch({"us": PAUSED, "kubectl": REPLICAS})
    assert taken_fields(cached.store.lost_fields(KEY), {"spec": {"paused": False}}) == ()


def test_the_manager_of_a_status_takes_no_fields(cached: CachedDeployment) -> None:
    cached.watch({"us": PAUSED, "controller": REPLICAS}, subresource="status")
    assert not cached.store.lost_fields(KEY)


def test_a_deleted_object_has_lost_nothing(cached: CachedDeployment) -> None:
    cached.watch({"us": PAUSED, "kubectl": REPLICAS})
    cached.store.observe_delete(KEY, "u")
    assert not cached.store.lost_fields(KEY)


def ports(key: str) -> dict[str, Any]:
    return {"f:spec": {"f:ports": {key: {".": {}, "f:name": {}, "f:port": {}}}}}


OTHER_PORT = 'k:{"port":8080,"protocol":"TCP"}'


def test_an_item_with_another_merge_key_is_known_with_the_object_until_it_is_ours_again() -> None:
    cached = CachedDeployment()
    cached.watch({"us": ports(PORT)})
    assert cached.store.changed_keys(KEY) is None
    cached.watch({"kubectl": ports(OTHER_PORT)})
    cached.watch({"kubectl": ports(OTHER_PORT), "controller": PAUSED})
    changed = cached.store.changed_keys(KEY)
    assert changed is not None
    assert changed.names == (("f:spec", "f:ports", PORT, "f:name"),)
    assert changed.managers == (("kubectl", '.spec.ports[port=80,protocol="TCP"].name'),)
    assert json.loads(changed.body)["metadata"]["resourceVersion"] == "4"
    assert not cached.store.lost_fields(KEY)
    cached.watch({"us": ports(PORT)})
    assert cached.store.changed_keys(KEY) is None


def test_an_item_that_another_manager_owns_under_our_key_is_taken_and_has_no_other_key() -> None:
    cached = CachedDeployment()
    cached.watch({"us": ports(PORT)})
    cached.watch({"kubectl": ports(PORT)})
    assert cached.store.changed_keys(KEY) is None
    assert ("kubectl", '.spec.ports[port=80,protocol="TCP"].name') in cached.taken


def test_an_item_whose_name_is_its_key_cannot_get_another_key_under_its_name() -> None:
    cached = CachedDeployment()
    cached.watch({"us": ports('k:{"name":"http"}')})
    cached.watch({"kubectl": PAUSED})
    assert cached.store.changed_keys(KEY) is None


PATHS: list[tuple[FieldPath, str, bool]] = [
    (("f:spec", "f:replicas"), ".spec.replicas", True),
    (("f:spec", "f:template"), ".spec.template", False),
    (("f:spec", "f:ports", PORT, "f:name"), '.spec.ports[port=80,protocol="TCP"].name', True),
    (("f:spec", "f:ports", 'k:{"port":81}', "f:name"), ".spec.ports[port=81].name", False),
    (("f:spec", "f:hosts", 'v:"b"'), '.spec.hosts[="b"]', True),
    (("f:spec", "f:hosts", 'v:"c"'), '.spec.hosts[="c"]', False),
    (("f:spec", "f:hosts", "i:1"), ".spec.hosts[1]", True),
    (("f:spec", "f:hosts", "i:2"), ".spec.hosts[2]", False),
]


@pytest.mark.parametrize(("path", "text", "is_in_manifest"), PATHS)
def test_a_path_is_written_as_the_api_server_does_and_found_in_a_manifest(
    path: FieldPath, text: str, is_in_manifest: bool
) -> None:
    assert (format_path(path), has_field(MANIFEST, path)) == (text, is_in_manifest)
