"""CoreTemplate, CellTemplate and ShardTemplate: protected by a finalizer for each cluster that uses them.

One reconcile handles a template with all clusters of its namespace, instead of each cluster its templates: a hundred
clusters that start to use one template cost a few writes and no conflicts, and a cluster that disappeared without
cleaning up (finalizers removed by hand, namespace deleted) protects nothing any more. The status of a cluster names the
templates that it uses.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from steward.kube.cache.rules import CacheRule
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.multigres.api.cluster_status import ResolvedTemplates
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.template_updates.finalizers import finalizer_steps
from steward.multigres.views import ClusterView, TemplateView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import selected_fields
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.reconcile import DONE, Result

FIELDS = {
    "CoreTemplate": "core_templates",
    "CellTemplate": "cell_templates",
    "ShardTemplate": "shard_templates",
}


class ClusterTemplateReconciler:
    """For one of the three kinds."""

    def __init__(self, context: MultigresContext, rule: CacheRule[TemplateView]) -> None:
        self.context = context
        self.rule = rule
        self.templates = context.store(rule)
        self.clusters = context.store(context.rules.cluster)

    def controller(self) -> Controller:
        used = selected_fields(lambda cluster: cluster.status.resolved_templates)
        return Controller(
            self.rule.kind.kind.lower(),
            self,
            (For(self.rule), Watches(self.context.rules.cluster, to=self._templates_of, when=used)),
        )

    def _templates_of(self, cluster: ClusterView) -> list[Key]:
        return [Key(cluster.metadata.namespace, name) for name in self._used_by(cluster)]

    def _used_by(self, cluster: ClusterView) -> list[str]:
        used: ResolvedTemplates = or_default(cluster.status.resolved_templates, ResolvedTemplates())
        names: Any = getattr(used, FIELDS[self.rule.kind.kind])
        return [] if names is UNSET else list(names)

    async def reconcile(self, key: Key) -> Result:
        template = self.templates.get(key)
        if template is None:
            return DONE
        ref = Ref(self.rule.kind, key)
        plan = finalizer_steps(ref, template.metadata, list(self._users(template)))
        return (await self.context.executor.execute(plan, ref)).result

    def _users(self, template: TemplateView) -> Iterator[str]:
        for cluster in self.clusters.list(template.metadata.namespace):
            if template.metadata.name in self._used_by(cluster):
                yield key_of(cluster).name
