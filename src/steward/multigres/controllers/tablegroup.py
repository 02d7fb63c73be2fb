"""TableGroup: makes one Shard of each of its entries and counts those that are ready."""

from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.multigres.cache_rules import TABLE_GROUP as KIND
from steward.multigres.controllers.common.child_triggers import owned
from steward.multigres.controllers.common.context import ControllerContext, stall_of
from steward.multigres.objects import children
from steward.multigres.objects.metadata import CLUSTER, Owner
from steward.multigres.status.conditions import Piece, Report, Stall, assess, child_piece, common_status
from steward.multigres.views import ShardView, TableGroupView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.triggers import For
from steward.runtime.reconcile import DONE, Result


class TableGroupReconciler:
    def __init__(self, context: ControllerContext) -> None:
        self.context = context
        self.groups = context.store(context.rules.table_group)
        self.shards = context.store(context.rules.shard)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller("tablegroup", self, (For(rules.table_group), *owned((rules.shard,))))

    async def reconcile(self, key: Key) -> Result:
        group = self.groups.get(key)
        if group is None or group.metadata.deletion_timestamp is not None:
            return DONE
        inputs = (group.metadata.uid, group.metadata.labels, group.spec)
        desired = self.context.drafts.of(Ref(KIND, key), inputs, lambda: _shards(group))
        strangers = await self.context.strangers(desired)
        kept = () if strangers else self.context.keep(group.metadata, desired, (self.context.rules.shard,))
        await self.context.executor.execute(kept, Ref(KIND, key))
        # After it: what was just applied is in the caches, and no status calls a shard ready that has yet to change.
        told = self.context.report(Ref(KIND, key), group, self._status(group, desired, stall_of(strangers)))
        return (await self.context.executor.execute(told, Ref(KIND, key))).result

    def _status(self, group: TableGroupView, desired: list[Manifest], stall: Stall | None) -> Manifest:
        names = [manifest["metadata"]["name"] for manifest in desired]
        pieces = [shard_piece(name, self.shards.get(Key(group.metadata.namespace, name))) for name in names]
        report = Report(group.metadata, group.status.conditions, self.context.now())
        return {
            **common_status(report, assess([*self.context.going(desired), *pieces], stall)),
            "readyShards": sum(piece.is_ready for piece in pieces),
            "totalShards": len(pieces),
        }


def shard_piece(name: str, shard: ShardView | None) -> Piece:
    if shard is None:
        return child_piece(f"shard {name}", None, [], 0)
    return child_piece(
        f"shard {name}", shard.metadata, shard.status.conditions, shard.status.observed_generation
    )


def _shards(group: TableGroupView) -> list[Manifest]:
    meta = group.metadata
    owner = Owner("TableGroup", meta.namespace, meta.name, meta.uid)
    return children.shards(owner, meta.labels.get(CLUSTER, ""), group.spec)
