"""TableGroup: creates one Shard for each of its entries and counts the ready ones."""

from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.multigres.cache_rules import TABLE_GROUP as KIND
from steward.multigres.controllers.common.child_triggers import owned_triggers
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.foreign_objects import foreign_stall
from steward.multigres.objects.tree import table_group_objects
from steward.multigres.status.conditions import (
    ComponentStatus,
    Stall,
    StatusContext,
    assess_health,
    child_component,
    common_status,
)
from steward.multigres.views import ShardView, TableGroupView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.triggers import For
from steward.runtime.plan.steps import Plan
from steward.runtime.reconcile import DONE, Result


class TableGroupReconciler:
    """Executes two plans: the Shards, then the status, so that the status never reports a Shard as ready that the first
    plan has just changed."""

    def __init__(self, context: MultigresContext) -> None:
        self.context = context
        self.groups = context.store(context.rules.table_group)
        self.shards = context.store(context.rules.shard)
        self.child_rules = (context.rules.shard,)

    def controller(self) -> Controller:
        rules = self.context.rules
        owned = owned_triggers(self.child_rules)
        return Controller("tablegroup", self, (For(rules.table_group), *owned), depth=1)

    async def reconcile(self, key: Key) -> Result:
        group, ref = self.groups.get(key), Ref(KIND, key)
        if group is None or group.metadata.deletion_timestamp is not None:
            return DONE
        desired = self._desired(ref, group)
        foreign = await self.context.foreign_objects.find(desired)
        await self.context.executor.execute(self._plan(group, desired, foreign), ref)
        status = self._status(group, desired, foreign_stall(foreign))
        report = self.context.reporter.report(ref, group, status)
        return (await self.context.executor.execute(report, ref)).result

    def _desired(self, ref: Ref, group: TableGroupView) -> list[Manifest]:
        inputs = (group.metadata.uid, group.metadata.labels, group.spec)
        return self.context.manifests.get_or_build(ref, inputs, lambda: table_group_objects(group))

    def _plan(self, group: TableGroupView, desired: list[Manifest], foreign: frozenset[Ref]) -> Plan:
        if foreign:
            return ()
        return self.context.children.plan_children(group.metadata, desired, self.child_rules)

    def _status(self, group: TableGroupView, desired: list[Manifest], stall: Stall | None) -> Manifest:
        names = [manifest["metadata"]["name"] for manifest in desired]
        namespace = group.metadata.namespace
        shards = [shard_component(name, self.shards.get(Key(namespace, name))) for name in names]
        terminating = self.context.children.terminating(desired)
        context = StatusContext(group.metadata, group.status.conditions, self.context.now())
        return {
            **common_status(context, assess_health([*terminating, *shards], stall)),
            "readyShards": sum(shard.is_ready for shard in shards),
            "totalShards": len(shards),
        }


def shard_component(name: str, shard: ShardView | None) -> ComponentStatus:
    if shard is None:
        return child_component(f"shard {name}", None, [], 0)
    return child_component(
        f"shard {name}", shard.metadata, shard.status.conditions, shard.status.observed_generation
    )
