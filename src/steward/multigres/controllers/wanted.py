"""From what a user wrote to what is wanted, with the templates that stand beside it right now."""

from typing import NamedTuple

import msgspec

from steward.multigres import reasons
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.controllers.ground import Ground
from steward.multigres.resolve import resolve
from steward.multigres.resolved import Identity, ResolvedCluster, Templates
from steward.multigres.status import Stall
from steward.multigres.validation import validate
from steward.multigres.views import ClusterView


class Wanted(NamedTuple):
    """What a spec asks for: everything resolved, or the reason why it cannot be carried out."""

    spec: MultigresClusterSpec
    resolved: ResolvedCluster | None
    stall: Stall | None


class Resolution:
    def __init__(self, ground: Ground) -> None:
        rules = ground.rules
        self._core = ground.store(rules.core_template)
        self._cell = ground.store(rules.cell_template)
        self._shard = ground.store(rules.shard_template)

    def of(self, cluster: ClusterView) -> Wanted:
        try:
            spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
            templates = self._contents(cluster.metadata.namespace)
        except msgspec.ValidationError as error:
            return Wanted(MultigresClusterSpec(), None, Stall(reasons.INVALID_SPEC, str(error)))
        resolved = resolve(Identity(cluster.metadata.namespace, cluster.metadata.name), spec, templates)
        problems = validate(spec, resolved)
        if not problems:
            return Wanted(spec, resolved, None)
        told = "; ".join(f"{problem.field}: {problem.message}" for problem in problems)
        return Wanted(spec, None, Stall(reasons.INVALID_SPEC, told))

    def _contents(self, namespace: str) -> Templates:
        return Templates(
            {t.metadata.name: msgspec.convert(t.spec, CoreTemplateSpec) for t in self._core.list(namespace)},
            {t.metadata.name: msgspec.convert(t.spec, CellTemplateSpec) for t in self._cell.list(namespace)},
            {
                t.metadata.name: msgspec.convert(t.spec, ShardTemplateSpec)
                for t in self._shard.list(namespace)
            },
        )
