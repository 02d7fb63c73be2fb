"""Takes records out of a topology server when what they speak of is going.

Asked again and again, but not for ever: a namespace must not stand still because an address no longer answers. A server
that Steward runs has the period of its shutdown, since its records end with it or are swept later; somebody else's has
the longest period that there is. What then stays behind is told.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import NamedTuple

from steward.etcd.client import EtcdClient
from steward.etcd.errors import EtcdError
from steward.kube.objects.kinds import Key
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.api.topo import TopoReference
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.etcd_access import SecretUnusable, TopologyAccess
from steward.multigres.controllers.common.graceful_deletion import Leaving, emit
from steward.multigres.deletion.annotations import STARTED, shutdown_period
from steward.multigres.deletion.draining import Terms
from steward.multigres.topology.protobuf import MalformedRecord
from steward.multigres.topology.store_records import cell_key, decode_pooler, pooler_prefix
from steward.runtime.plan.steps import EventType, Plan

ATTEMPTS = 3
TROUBLE = (EtcdError, SecretUnusable, OSError, ValueError)


class Server(NamedTuple):
    """A topology server: how it is reached, and the TopoServer behind it; empty when somebody else runs it."""

    reference: TopoReference
    managed: str = ""


class Whose(NamedTuple):
    """Whose records go."""

    cells: Collection[str]
    databases: Collection[str]


class Attempt(NamedTuple):
    """Done or given up, which `steps` tell; or to be tried again, for the reason in `waits_for`."""

    steps: Plan = ()
    waits_for: str = ""


Removal = Callable[[EtcdClient], Awaitable[None]]


class Deregistration:
    def __init__(self, context: ControllerContext, access: TopologyAccess) -> None:
        self.context = context
        self.access = access
        self.servers = context.store(context.rules.topo_server)
        self.sets = context.store(context.rules.stateful_set)

    async def attempt(self, leaving: Leaving, terms: Terms, server: Server, removal: Removal) -> Attempt:
        namespace, reference = leaving.meta.namespace, server.reference
        if server.managed and not self._is_up(Key(namespace, server.managed)):
            return Attempt()
        try:
            async with EtcdClient(await self.access.endpoints(namespace, reference)) as etcd:
                await removal(etcd)
        except TROUBLE as error:
            return self._failed(leaving, terms, server, error)
        return Attempt()

    def _is_up(self, key: Key) -> bool:
        server, members = self.servers.get(key), self.sets.get(key)
        if server is None or members is None or STARTED in server.metadata.annotations:
            return False
        return bool(members.status.ready_replicas)

    def _failed(self, leaving: Leaving, terms: Terms, server: Server, error: Exception) -> Attempt:
        asked = from_timestamp(leaving.meta.deletion_timestamp or "1970-01-01T00:00:00Z")
        usual = shutdown_period(terms.annotations, leaving.default_seconds, terms.grace).seconds
        patience = usual if server.managed else terms.grace.most_seconds
        if terms.now - asked < patience:
            return Attempt(waits_for=f"waiting for the topology server to forget it: {error}")
        told = f"Records stay below {server.reference.root_path} of {server.reference.address}: {error}"
        return Attempt((emit(leaving, reasons.RECORDS_LEFT, told, EventType.WARNING),))


async def remove_cell(etcd: EtcdClient, root: str, cell: str) -> None:
    await _remove_below(etcd, cell_key(root, cell), lambda key, value: True)


async def remove_everything(etcd: EtcdClient, root: str) -> None:
    """For a root that belongs to the cluster alone."""
    await _remove_below(etcd, f"{root}/", lambda key, value: True)


async def remove_own(etcd: EtcdClient, root: str, whose: Whose) -> None:
    """For a root that clusters may share: what carries the names of our cells and databases."""
    for cell in whose.cells:
        await remove_cell(etcd, root, cell)
    for database in whose.databases:
        await _remove_below(etcd, f"{root}/databases/{database}/", lambda key, value: True)
    await _remove_below(etcd, pooler_prefix(root), lambda key, value: _serves(value, whose.databases))


def _serves(value: bytes, databases: Collection[str]) -> bool:
    try:
        return decode_pooler(value).database in databases
    except MalformedRecord:
        return False


async def _remove_below(etcd: EtcdClient, prefix: str, goes: Callable[[str, bytes], bool]) -> None:
    for _ in range(ATTEMPTS):
        found = await etcd.list(prefix)
        going = {key: seen.revision for key, seen in found.items() if goes(key, seen.value)}
        if all([await etcd.delete(key, revision) for key, revision in going.items()]):
            return
    raise EtcdError(f"the records below {prefix} keep changing while they are removed")
