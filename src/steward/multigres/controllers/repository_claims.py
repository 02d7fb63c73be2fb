"""The inputs of a shard's builders with the claims of its repository that exist, for controllers beside the Shard's."""

from steward.multigres import names
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.objects.repository.claims import COMPONENT, repository_claim_names
from steward.multigres.objects.shard_inputs import ShardInputs, shard_inputs
from steward.multigres.views import ClaimView, ShardView

INDEX = "repository"


class RepositoryClaims:
    def __init__(self, context: MultigresContext) -> None:
        self._claims = context.store(context.rules.claim)
        self._claims.add_index(INDEX, _shards)

    def inputs(self, shard: ShardView) -> ShardInputs:
        key = f"{shard.metadata.namespace}/{shard.metadata.name}"
        found = self._claims.by_index(INDEX, key)
        claims = repository_claim_names(claim.metadata for claim in found)
        return shard_inputs(shard, repository_claims=claims)


def _shards(claim: ClaimView) -> list[str]:
    labels = claim.metadata.labels
    if labels.get(COMPONENT_LABEL) != COMPONENT:
        return []
    parts = [
        labels.get(label, "") for label in (CLUSTER_LABEL, DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)
    ]
    return [f"{claim.metadata.namespace}/{names.shard(ShardPath(*parts))}"]
