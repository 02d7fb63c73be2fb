"""The primary switch controller: carries out the switches that Shards request, one at a time for each shard."""

from steward.kube.objects.kinds import Key, Ref
from steward.multiadmin.errors import MultiadminError, RequestRejected
from steward.multigres import reasons
from steward.multigres.cache_rules import SHARD as KIND
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.primary_switches import SwitchRequest
from steward.multigres.controllers.common.servers import multiadmin_address
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.servers.assessment import assess_servers
from steward.multigres.views import ShardView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.triggers import For
from steward.runtime.plan.steps import Emit, EventType
from steward.runtime.reconcile import DONE, Result

NAME = "primary-switch"


class PrimarySwitchReconciler:
    def __init__(self, context: MultigresContext) -> None:
        self.context = context
        self.shards = context.store(context.rules.shard)

    def controller(self) -> Controller:
        # Only requests trigger it: a change of a Shard is none.
        for_shards = For(self.context.rules.shard, when=lambda change: False)
        return Controller(NAME, self, (for_shards,), channel=self.context.switches.requests)

    async def reconcile(self, key: Key) -> Result:
        request, shard = self.context.switches.pending(key), self.shards.get(key)
        if request is None:
            return DONE
        is_paused = self.context.paused.includes(Ref(KIND, key))
        if shard is None or is_paused or shard.metadata.deletion_timestamp is not None:
            self.context.switches.forget(key)
        elif self._is_primary(key, request.primary):
            await self._switch(shard, request)
        else:
            self.context.switches.record_end(key)
        return DONE

    def _is_primary(self, shard: Key, pod: str) -> bool:
        """A switch that another process requested may have ended meanwhile: a second one would undo it."""
        return assess_servers((), self.context.servers.get(shard), "").primary == pod

    async def _switch(self, shard: ShardView, request: SwitchRequest) -> None:
        key = Key(shard.metadata.namespace, shard.metadata.name)
        message = f"asks multiadmin to switch the primary from {request.primary} to another server: {request.purpose}"
        await self._emit(shard, Emit(Ref(KIND, key), reasons.SWITCH_REQUESTED, message))
        error = await self._call(shard, request)
        self.context.switches.record_end(key, error)
        self.context.switch_metrics.count(key.namespace, error)
        self.context.servers.request_check(key, self.context.clock.monotonic())
        if error:
            refused = f"the switch of the primary from {request.primary} was refused: {error}"
            await self._emit(shard, Emit(Ref(KIND, key), reasons.SWITCH_REFUSED, refused, EventType.WARNING))

    async def _call(self, shard: ShardView, request: SwitchRequest) -> str:
        """Why multiadmin refused it; "" if it did not."""
        path = shard_path(shard)
        address = multiadmin_address(shard.metadata.namespace, path.cluster)
        try:
            multiadmin = self.context.multiadmin.at(address)
            await multiadmin.switch_primary(path.database, path.table_group, path.shard, request.purpose)
        except RequestRejected as error:
            return error.sentence or str(error)
        except MultiadminError as error:
            return str(error)
        return ""

    async def _emit(self, shard: ShardView, event: Emit) -> None:
        await self.context.executor.execute((event,), event.ref)
