"""What a cluster may ask for: every error at once with its field and the cure, and warnings for what is merely unwise.

Pure, and the same for the webhook and for reconcile: what got past the one is caught by the other. Values are checked
as they come out of the whole chain, so that a limit in a template and a request in an override are compared with each
other; the schema has already checked what a single field can tell.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from steward.kube.objects.quantity import parse_quantity
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.compute import Resources, Storage
from steward.multigres.api.scalars import Unset, is_cell_name
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.maintenance_window import window_problem
from steward.multigres.resolution.name_collisions import collisions
from steward.multigres.resolution.resolve import cell_name
from steward.multigres.resolution.resolved import Problem, ResolvedCluster


def validate(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> list[Problem]:
    """Everything that keeps a cluster from being carried out."""
    return [
        *resolved.problems,
        *_cell_names(spec),
        *_names_twice(spec),
        *collisions(resolved),
        *_limits_below_requests(resolved),
        *_empty_volumes(resolved),
        *_windows(spec),
    ]


def _cell_names(spec: MultigresClusterSpec) -> Iterator[Problem]:
    """A cell may take its zone's name, which was never checked as a name."""
    for index, entry in enumerate(given(spec.cells, [])):
        name = cell_name(entry)
        if not name:
            yield Problem(f"spec.cells[{index}]", "give it a name, a zone or a region")
        elif not is_cell_name(name):
            told = f"{name!r} cannot be a cell's name (lower-case letters, digits, - and _, up to 30); give it one"
            yield Problem(f"spec.cells[{index}].name", told)


def _names_twice(spec: MultigresClusterSpec) -> Iterator[Problem]:
    counts = Counter(cell_name(entry) for entry in given(spec.cells, []))
    for index, entry in enumerate(given(spec.cells, [])):
        name = cell_name(entry)
        if counts[name] > 1:
            yield Problem(
                f"spec.cells[{index}].name",
                f"{name!r} is the name of {counts[name]} cells; give each its own",
            )


def _limits_below_requests(resolved: ResolvedCluster) -> Iterator[Problem]:
    for field, resources in _all_resources(resolved):
        if isinstance(resources, Resources):
            yield from _below(field, resources)


def _all_resources(resolved: ResolvedCluster) -> Iterator[tuple[str, Resources | Unset]]:
    if resolved.topo.etcd is not None:
        yield "spec.globalTopoServer.etcd.resources", resolved.topo.etcd.resources
    yield "spec.multiadmin.spec.resources", resolved.multiadmin.resources
    yield "spec.multiadminWeb.spec.resources", resolved.multiadmin_web.resources
    for index, cell in enumerate(resolved.cells):
        yield f"spec.cells[{index}].spec.multiGateway.resources", cell.gateway.resources
    for known in resolved.shards():
        if known.shard.multiorch is not UNSET:
            yield f"{known.field}.multiorch.resources", known.shard.multiorch.resources
        for name, pool in known.pools.items():
            yield f"{known.field}.pools[{name}].postgres", pool.postgres
            yield f"{known.field}.pools[{name}].multipooler", pool.multipooler


def _below(field: str, resources: Resources) -> Iterator[Problem]:
    limits = given(resources.limits, {})
    for part, amounts in (("requests", given(resources.requests, {})), ("limits", limits)):
        for name, amount in amounts.items():
            if parse_quantity(amount) < 0:
                yield Problem(f"{field}.{part}.{name}", f"{amount} is less than nothing; write 0 or more")
    for name, request in given(resources.requests, {}).items():
        if name in limits and parse_quantity(limits[name]) < parse_quantity(request):
            told = f"the limit {limits[name]} is below the request {request}; raise the limit or lower the request"
            yield Problem(f"{field}.limits.{name}", told)


def _empty_volumes(resolved: ResolvedCluster) -> Iterator[Problem]:
    for _, field, size in _sizes(resolved):
        if parse_quantity(size) <= 0:
            yield Problem(field, f"{size} is no size of a volume; write more than 0, such as 10Gi")


def _windows(spec: MultigresClusterSpec) -> Iterator[Problem]:
    policy = spec.update_policy
    if policy is not UNSET and policy.window is not UNSET and (told := window_problem(policy.window)):
        yield Problem("spec.updatePolicy.window", told)


def validate_update(old: ResolvedCluster, new: ResolvedCluster) -> list[Problem]:
    """What a running cluster can no longer change, whatever level of the chain it comes from."""
    return [*_etcd_replicas(old, new), *_shrinking(old, new)]


def _etcd_replicas(old: ResolvedCluster, new: ResolvedCluster) -> Iterator[Problem]:
    before, after = old.topo.etcd, new.topo.etcd
    if before is not None and after is not None and before.replicas != after.replicas:
        told = f"cannot change from {before.replicas} to {after.replicas}: the members of a running etcd are fixed"
        yield Problem("spec.globalTopoServer.etcd.replicas", told)


class Sized(NamedTuple):
    """A volume by what it belongs to: a list may change its order, and another entry is another volume."""

    owner: tuple[str, ...]
    field: str
    size: str | int


def _shrinking(old: ResolvedCluster, new: ResolvedCluster) -> Iterator[Problem]:
    before = {each.owner: each.size for each in _sizes(old)}
    for owner, field, size in _sizes(new):
        if owner in before and parse_quantity(size) < parse_quantity(before[owner]):
            told = f"cannot shrink from {before[owner]} to {size}: a volume only grows"
            yield Problem(field, told)


def _sizes(resolved: ResolvedCluster) -> Iterator[Sized]:
    for owner, field, storage in _storages(resolved):
        if storage is not UNSET and storage.size is not UNSET:
            yield Sized(owner, f"{field}.storage.size", storage.size)


def _storages(resolved: ResolvedCluster) -> Iterator[tuple[tuple[str, ...], str, Storage | Unset]]:
    if resolved.topo.etcd is not None:
        yield ("global topology server",), "spec.globalTopoServer.etcd", resolved.topo.etcd.storage
    for index, cell in enumerate(resolved.cells):
        if cell.local_topo is not None and cell.local_topo.etcd is not UNSET:
            field = f"spec.cells[{index}].spec.localTopoServer.etcd"
            yield ("cell", cell.name), field, cell.local_topo.etcd.storage
    for known in resolved.shards():
        path = (known.database.name, known.group.name, known.shard.name)
        for name, pool in known.pools.items():
            yield (*path, "pool", name), f"{known.field}.pools[{name}]", pool.storage
        backup = given(known.shard.backup, defaults.BACKUP)
        if backup.type == "filesystem" and backup.filesystem is not UNSET:
            yield (*path, "backup"), f"{known.field}.backup.filesystem", backup.filesystem.storage
