"""Two processes, each with its part of the fleet: together they reconcile all of it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.tenants.names import bucket, values_secret
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import resource
from tests.tenants.support.operator import running_operator

UIDS = ("acme", "hooli", "initech", "umbrella")
PASSWORD = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "{{ .plan }}"}}
WRITTEN = "tenants,secrets,configmaps,controllerrevisions"
ANOTHER = {"data": {"password": "YQ=="}}


def part_of(uid: str) -> int:
    return int(bucket(f"{uid}-web-app")) % 2


@contextmanager
def both_parts(control_plane: ControlPlane, namespace: str, directory: Path) -> Iterator[None]:
    with (
        running_operator(control_plane, namespace, directory / "first.log", shard="0/2"),
        running_operator(control_plane, namespace, directory / "second.log", shard="1/2"),
    ):
        yield


def test_every_tenant_is_applied_by_the_part_that_it_belongs_to(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    assert {part_of(uid) for uid in UIDS} == {0, 1}
    world = World(kubectl, namespace)
    customers.add(*UIDS)
    with running_operator(control_plane, namespace, tmp_path / "first.log", shard="0/2"):
        world.apply(sqlite_registry(), config_template())
        of_this_part = sum(part_of(uid) == 0 for uid in UIDS)
        until(
            lambda: world.status().get("ready") == of_this_part and len(world.active_tenants()) == len(UIDS),
            world.status,
        )
        with running_operator(control_plane, namespace, tmp_path / "second.log", shard="1/2"):
            until(lambda: world.status().get("ready") == len(UIDS), world.status)


class SplitFleet:
    """Four Tenants with a Secret each, and changes that another client makes."""

    def __init__(self, world: World) -> None:
        self.world = world

    def create(self) -> None:
        secrets = [resource("password", spec=PASSWORD, nameTemplate="{{ .uid }}-password")]
        self.world.apply(sqlite_registry(), config_template(secrets=secrets))
        self.until_ready(len(UIDS))

    def until_ready(self, count: int) -> None:
        until(lambda: self.world.status().get("ready") == count, self.world.status)

    def until_edit_is_reverted(self, kind: str, name: str, change: dict[str, Any]) -> None:
        wanted = self._content(kind, name)
        assert wanted is not None
        self.world.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(change))
        until(lambda: self._content(kind, name) == wanted, lambda: self._content(kind, name))

    def until_created_again(self, kind: str, name: str) -> None:
        before = self.world.get(kind, name)["metadata"]["uid"]
        self.world.kubectl("delete", kind, name)

        def is_another() -> bool:
            found = self.world.get(kind, name)
            return found is not None and found["metadata"]["uid"] != before

        until(is_another)

    def versions(self) -> dict[str, str]:
        return {
            f"{kind}/{found['metadata']['name']}": found["metadata"]["resourceVersion"]
            for kind in WRITTEN.split(",")
            for found in self.world.all(kind)
        }

    def _content(self, kind: str, name: str) -> Any:
        found = self.world.get(kind, name)
        return None if found is None else (found.get("data"), found.get("spec"), found["metadata"]["labels"])


@pytest.fixture
def split(kubectl: Kubectl, namespace: str, customers: Customers) -> SplitFleet:
    customers.add(*UIDS)
    return SplitFleet(World(kubectl, namespace))


def test_tenants_and_values_of_every_part_are_put_back(
    control_plane: ControlPlane, namespace: str, split: SplitFleet, tmp_path: Path
) -> None:
    no_objects = {"metadata": {"labels": {"kubernetes-tenants.org/uid": "other"}}, "spec": {"configMaps": []}}
    of_each_part = [next(uid for uid in UIDS if part_of(uid) == part) for part in (0, 1)]
    with both_parts(control_plane, namespace, tmp_path):
        split.create()
        for uid in of_each_part:
            tenant = f"{uid}-web-app"
            split.until_edit_is_reverted("secret", values_secret(tenant), ANOTHER)
            split.until_created_again("secret", values_secret(tenant))
            split.until_edit_is_reverted("tenant", tenant, no_objects)
            split.until_created_again("tenant", tenant)
        split.until_ready(len(UIDS))


def test_secrets_are_put_back_from_values_to_which_others_added_a_key(
    control_plane: ControlPlane, namespace: str, split: SplitFleet, tmp_path: Path
) -> None:
    added = json.dumps({"data": {"added": "YQ=="}})
    with both_parts(control_plane, namespace, tmp_path):
        split.create()
        for uid in UIDS:
            values = values_secret(f"{uid}-web-app")
            split.world.kubectl("patch", "secret", values, "--type=merge", "-p", added)
            split.until_edit_is_reverted("secret", f"{uid}-password", ANOTHER)
        split.until_ready(len(UIDS))


def test_a_restart_of_all_parts_writes_no_object_that_is_up_to_date(
    control_plane: ControlPlane, namespace: str, customers: Customers, split: SplitFleet, tmp_path: Path
) -> None:
    with both_parts(control_plane, namespace, tmp_path):
        split.create()
    before = split.versions()
    customers.add("late")
    with both_parts(control_plane, namespace, tmp_path):
        split.until_ready(len(UIDS) + 1)
    after = split.versions()
    assert {name: after[name] for name in before} == before


def test_the_deletion_guard_counts_the_tenants_of_every_part(
    control_plane: ControlPlane, namespace: str, customers: Customers, split: SplitFleet, tmp_path: Path
) -> None:
    with both_parts(control_plane, namespace, tmp_path):
        split.create()
        customers.remove(*UIDS)
        split.world.until_condition("DeletionHeld", "True")
        assert split.world.status()["heldDeletion"]["count"] == len(UIDS)
        assert len(split.world.active_tenants()) == len(UIDS)
