"""Whether statuses tell the truth about the objects around them. Pure."""

from collections.abc import Iterator
from typing import Any

from tests.chaos.snapshot import object_name

Manifest = dict[str, Any]

CELL, COMPONENT = "multigres.com/cell", "app.kubernetes.io/component"
GATEWAY = "multigateway"


def stale_statuses(objects: list[Manifest]) -> Iterator[str]:
    """Statuses that describe another generation of the spec."""
    for each in objects:
        observed = _status(each).get("observedGeneration")
        if observed is not None and observed != each["metadata"]["generation"]:
            yield f"{object_name(each)}: the status is of generation {observed}, not {each['metadata']['generation']}"


def false_cluster_counts(objects: list[Manifest]) -> Iterator[str]:
    """Counts of a MultigresCluster that differ from its Deployments and Shards."""
    [cluster] = _of_kind(objects, "MultigresCluster")
    status = _status(cluster)
    for name, summary in (status.get("cells") or {}).items():
        yield from _difference(
            f"gateways of cell {name}", summary["gatewayReplicas"], _gateways(objects, name)
        )
    shards = _of_kind(objects, "Shard")
    databases = (status.get("databases") or {}).values()
    yield from _difference("shards", sum(each["totalShards"] for each in databases), len(shards))
    yield from _difference(
        "ready shards", sum(each["readyShards"] for each in databases), sum(map(is_ready, shards))
    )


def false_fleet_counts(objects: list[Manifest]) -> Iterator[str]:
    """Counts of a TenantRegistry and of TenantTemplates that differ from the Tenants."""
    [registry] = _of_kind(objects, "TenantRegistry")
    tenants = _of_kind(objects, "Tenant")
    yield from _difference("ready Tenants", _status(registry).get("ready", 0), sum(map(is_ready, tenants)))
    for template in _of_kind(objects, "TenantTemplate"):
        name, status = template["metadata"]["name"], _status(template)
        own = [each for each in tenants if each["spec"]["templateRef"] == name]
        yield from _difference(f"Tenants of {name}", status.get("totalTenants", 0), len(own))
        yield from _difference(
            f"ready Tenants of {name}", status.get("readyTenants", 0), sum(map(is_ready, own))
        )


def is_ready(each: Manifest) -> bool:
    conditions = _status(each).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _gateways(objects: list[Manifest], cell: str) -> int:
    found = [
        each
        for each in _of_kind(objects, "Deployment")
        if each["metadata"]["labels"].get(CELL) == cell
        and each["metadata"]["labels"].get(COMPONENT) == GATEWAY
    ]
    return sum(_status(each).get("readyReplicas", 0) for each in found)


def _difference(what: str, reported: int, actual: int) -> Iterator[str]:
    if reported != actual:
        yield f"the status reports {reported} {what}, and there are {actual}"


def _of_kind(objects: list[Manifest], kind: str) -> list[Manifest]:
    return [each for each in objects if each["kind"] == kind]


def _status(each: Manifest) -> Manifest:
    return each.get("status") or {}
