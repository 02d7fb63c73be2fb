"""What a Shard does with decisions to let its volumes grow, and reports about them."""

from collections.abc import Sequence

from msgspec.structs import replace

from steward.kube.objects.conditions import TRUE, Condition
from steward.multigres import reasons
from steward.multigres.controllers.postgres_access.volume_growth import Growths
from steward.multigres.rollout.autogrow import with_grown_volumes
from steward.multigres.status.conditions import VOLUMES_FILLING, ComponentStatus
from steward.multigres.views import ClaimView, ShardView


def with_growth(shard: ShardView, claims: Sequence[ClaimView], growths: Growths) -> ShardView:
    """The shard as if its spec had the sizes that its volumes have reached or get."""
    spec = with_grown_volumes(shard.spec, claims, {growth.pool: growth.size for growth in growths})
    return shard if spec is shard.spec else replace(shard, spec=spec)


def filling_conditions(growths: Growths, generation: int) -> list[Condition]:
    """Present while a volume fills up that cannot grow further."""
    limited = [growth.message for growth in growths if growth.is_limited]
    if not limited:
        return []
    message = "; ".join(limited)
    return [Condition(VOLUMES_FILLING, TRUE, reasons.VOLUMES_AT_MAXIMUM, message, generation)]


def filling_components(growths: Growths) -> list[ComponentStatus]:
    """The shard serves; the problem is one all the same."""
    return [ComponentStatus("volumes", 1, 1, True, growth.message) for growth in growths if growth.is_limited]
