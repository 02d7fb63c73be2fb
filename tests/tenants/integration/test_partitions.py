"""Two processes, each with its part of the fleet: together they reconcile all of it."""

from pathlib import Path

from steward.local.control_plane import ControlPlane
from steward.tenants.names import bucket
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.operator import running_operator

UIDS = ("acme", "hooli", "initech", "umbrella")


def test_every_tenant_is_applied_by_the_part_that_it_belongs_to(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    assert {int(bucket(f"{uid}-web-app")) % 2 for uid in UIDS} == {0, 1}
    world = World(kubectl, namespace)
    customers.add(*UIDS)
    with running_operator(control_plane, namespace, tmp_path / "first.log", shard="0/2"):
        world.apply(sqlite_registry(), config_template())
        of_this_part = sum(int(bucket(f"{uid}-web-app")) % 2 == 0 for uid in UIDS)
        until(
            lambda: world.status().get("ready") == of_this_part and len(world.active_tenants()) == len(UIDS),
            world.status,
        )
        with running_operator(control_plane, namespace, tmp_path / "second.log", shard="1/2"):
            until(lambda: world.status().get("ready") == len(UIDS), world.status)
