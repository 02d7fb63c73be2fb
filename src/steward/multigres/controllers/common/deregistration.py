"""Removes the records of deleted clusters and cells from a topology server.

Failures are retried, but not for ever: a namespace must not be stuck because an address no longer answers. For a server
that the operator runs the limit is the shutdown period, since its records end with it or are removed later; for an
external server it is the longest period allowed. Records that are left behind are reported in an event.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import NamedTuple

from steward.etcd.client import EtcdClient
from steward.etcd.errors import EtcdError
from steward.kube.objects.kinds import Key
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.api.topo import TopoReference
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.etcd_access import SecretUnusable, TopologyAccess
from steward.multigres.controllers.common.graceful_deletion import DeletingObject, deletion_event
from steward.multigres.deletion.annotations import STARTED, shutdown_period
from steward.multigres.deletion.draining import DeletionTerms
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.topology.protobuf import MalformedRecord
from steward.multigres.topology.store_records import cell_key, decode_pooler, pooler_prefix
from steward.runtime.plan.steps import EventType, Plan

ATTEMPTS = 3
RETRIED_ERRORS = (EtcdError, SecretUnusable, OSError, ValueError)


class TopologyTarget(NamedTuple):
    """A topology server: its address, and the name of the TopoServer that runs it; "" for an external server."""

    reference: TopoReference
    managed_server: str = ""
    may_have_records: bool = True
    """False if the operator never wrote to it: then there is nothing to remove, and nothing to wait for."""


class RecordScope(NamedTuple):
    """The cells and databases whose records are removed."""

    cells: Collection[str]
    databases: Collection[str]


class DeregistrationResult(NamedTuple):
    """Both empty if the records are removed. `steps` reports records that are left behind; `waits_for` names the error
    because of which the removal is retried."""

    steps: Plan = ()
    waits_for: str = ""


RecordRemoval = Callable[[EtcdClient], Awaitable[None]]


class Deregistration:
    def __init__(self, context: MultigresContext, access: TopologyAccess) -> None:
        self.context = context
        self.access = access
        self.servers = context.store(context.rules.topo_server)
        self.sets = context.store(context.rules.stateful_set)

    async def deregister(
        self, deleting: DeletingObject, terms: DeletionTerms, target: TopologyTarget, remove: RecordRemoval
    ) -> DeregistrationResult:
        namespace = deleting.meta.namespace
        if not target.may_have_records:
            return DeregistrationResult()
        if target.managed_server and not self._is_up(Key(namespace, target.managed_server)):
            return DeregistrationResult()
        try:
            async with EtcdClient(await self.access.endpoints(namespace, target.reference)) as etcd:
                await remove(etcd)
        except RETRIED_ERRORS as error:
            return self._failed(deleting, terms, target, error)
        return DeregistrationResult()

    def _is_up(self, key: Key) -> bool:
        server, members = self.servers.get(key), self.sets.get(key)
        if server is None or members is None or STARTED in server.metadata.annotations:
            return False
        return bool(members.status.ready_replicas)

    def _failed(
        self, deleting: DeletingObject, terms: DeletionTerms, target: TopologyTarget, error: Exception
    ) -> DeregistrationResult:
        requested_at = from_timestamp(deleting.meta.deletion_timestamp or "1970-01-01T00:00:00Z")
        period = shutdown_period(terms.annotations, deleting.default_seconds, terms.grace).seconds
        limit = period if target.managed_server else terms.grace.max_seconds
        if terms.now - requested_at < limit:
            return DeregistrationResult(
                waits_for=f"waiting to remove its records from the topology server: {error}"
            )
        reference = target.reference
        message = f"Records stay below {reference.root_path} of {reference.address}: {error}"
        return DeregistrationResult(
            (deletion_event(deleting, reasons.RECORDS_LEFT, message, EventType.WARNING),)
        )


def is_shared_root(resolved: ResolvedCluster) -> bool:
    """Whether other clusters may keep records below the same root: then only the cluster's own may be removed."""
    external = resolved.topo.external
    return external is not None and bool(or_default(external.root_path, ""))


def has_foreign_records(resolved: ResolvedCluster) -> bool:
    """Whether records below the root are not this cluster's: of other clusters, or cells that it does not register."""
    return is_shared_root(resolved) or not resolved.topology.register_cell


async def remove_cell_records(etcd: EtcdClient, root: str, cell: str) -> None:
    await _remove_below(etcd, cell_key(root, cell), lambda key, value: True)


async def remove_all_records(etcd: EtcdClient, root: str) -> None:
    """For a root that only this cluster uses."""
    await _remove_below(etcd, f"{root}/", lambda key, value: True)


async def remove_scoped_records(etcd: EtcdClient, root: str, scope: RecordScope) -> None:
    """For a root that clusters may share: only records of the cells and databases in `scope`."""
    for cell in scope.cells:
        await remove_cell_records(etcd, root, cell)
    for database in scope.databases:
        await _remove_below(etcd, f"{root}/databases/{database}/", lambda key, value: True)
    await _remove_below(etcd, pooler_prefix(root), lambda key, value: _is_pooler_of(value, scope.databases))


def _is_pooler_of(value: bytes, databases: Collection[str]) -> bool:
    try:
        return decode_pooler(value).database in databases
    except MalformedRecord:
        return False


async def _remove_below(etcd: EtcdClient, prefix: str, matches: Callable[[str, bytes], bool]) -> None:
    for _ in range(ATTEMPTS):
        stored = await etcd.list(prefix)
        revisions = {key: record.revision for key, record in stored.items() if matches(key, record.value)}
        if all([await etcd.delete(key, revision) for key, revision in revisions.items()]):
            return
    raise EtcdError(f"the records below {prefix} keep changing while they are removed")
