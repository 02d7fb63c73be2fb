"""A template edit that makes a Tenant fail reaches no other: maxSkew and its deadline on a real control plane."""

import json
from pathlib import Path
from typing import Any

from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import Manifest, resource
from tests.tenants.support.operator import running_operator

OF_TEMPLATE = {"kind": "tenanttemplate", "name": "web-app"}
NAMES = ("acme-web-app", "hooli-web-app", "umbrella-web-app")


def _template(version: str, is_fine: str = "yes") -> Manifest:
    """A ConfigMap whose data decide whether it is ready."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"version": version, "fine": is_fine}}
    resources = [resource(spec=body, readyWhen='{{ eq .data.fine "yes" }}')]
    return config_template(configMaps=resources, rollout={"maxSkew": 1})


def _generations(world: World) -> dict[str, tuple[int, int]]:
    """By Tenant: the generation of its template, and its own."""
    return {
        name: (item["spec"]["templateGeneration"], item["metadata"]["generation"])
        for name, item in world.tenants().items()
    }


def _until_phase(world: World, phase: str, generation: int) -> dict[str, Any]:
    def rollout_in_phase() -> Any:
        rollout = world.status(**OF_TEMPLATE).get("rollout", {})
        return (
            rollout
            if (rollout.get("phase"), rollout.get("targetGeneration")) == (phase, generation)
            else None
        )

    return until(rollout_in_phase, lambda: world.status(**OF_TEMPLATE))


def _age_rollout(world: World) -> None:
    """Moves the last progress into the past while no operator runs."""
    long_ago = {"status": {"rollout": {"lastProgressTime": "2020-01-01T00:00:00Z"}}}
    patch = ("--subresource=status", "--type=merge", "-p", json.dumps(long_ago))
    world.kubectl("patch", "tenanttemplate", "web-app", *patch)


def _roll_out_bad_version_to_one(world: World) -> None:
    source = {**sqlite_registry()["spec"]["source"], "syncInterval": "1h"}
    world.apply(sqlite_registry(source=source), _template("1"))
    _until_phase(world, "Complete", 1)
    world.until_tenants(*NAMES)

    world.apply(_template("2", "no"))
    rollout = _until_phase(world, "InProgress", 2)
    assert rollout["totalNodes"] == 3
    until(lambda: _generations(world)["acme-web-app"] == (2, 2), world.tenants)
    until(lambda: world.status(**OF_TEMPLATE)["rollout"]["updatingNodes"] == 1, world.tenants)
    assert until(lambda: world.events("RolloutThrottled"))


def test_a_bad_version_stops_at_its_first_tenant_and_a_good_one_reaches_all(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    customers.add("acme", "hooli", "umbrella")
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        _roll_out_bad_version_to_one(world)
    _age_rollout(world)
    with running_operator(control_plane, namespace, tmp_path / "second.log"):
        _check_failure_and_next_edit(world)


def _check_failure_and_next_edit(world: World) -> None:
    failed = _until_phase(world, "Failed", 2)
    assert (failed["updatedNodes"], failed["readyUpdatedNodes"]) == (1, 0)
    assert "Edit the template to continue" in failed["message"]
    assert until(lambda: world.events("RolloutFailed"))
    generations = {name: generation for name, (generation, _) in _generations(world).items()}
    assert generations == {"acme-web-app": 2, "hooli-web-app": 1, "umbrella-web-app": 1}

    world.apply(_template("3"))
    rollout = _until_phase(world, "Complete", 3)
    assert (rollout["updatedNodes"], rollout["readyUpdatedNodes"], rollout["updatingNodes"]) == (3, 3, 0)
    # The other two never had the second version: they have changed only once.
    assert _generations(world) == {
        "acme-web-app": (3, 3),
        "hooli-web-app": (3, 2),
        "umbrella-web-app": (3, 2),
    }
    assert world.until_condition("Applied", "True", **OF_TEMPLATE)["reason"] == "AllTenantsReady"
