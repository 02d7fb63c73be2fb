"""Which size the volumes of a pool have under `storage.autogrow`. Pure.

The claims hold the size that was reached: no other record is needed, and a restart forgets nothing. All volumes of a
pool have one size, because every server stores all data of its shard.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from steward.kube.objects.quantity import parse_quantity
from steward.multigres.api.compute import Autogrow, Pool, PoolStorage
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import POOL_LABEL
from steward.multigres.objects.pool import CLAIM
from steward.multigres.resolution.autogrow import fills_up, grown_size
from steward.multigres.rollout.volumes import BOUND, requested
from steward.multigres.views import ClaimView

DEFAULT_SIZE = "1Gi"
"""As `objects/volumes.py` has it."""


class PoolGrowth(NamedTuple):
    """What follows from the fullest volume of a pool: a new size, or that it has its largest one already."""

    pool: str
    size: str
    message: str
    is_limited: bool = False


def autogrow_rules(spec: ShardSpec) -> dict[str, Autogrow]:
    """The rules by pool."""
    storages = {name: pool.storage for name, pool in or_default(spec.pools, {}).items()}
    return {
        name: storage.autogrow
        for name, storage in storages.items()
        if storage is not UNSET and storage.autogrow is not UNSET
    }


def with_grown_volumes(spec: ShardSpec, claims: Sequence[ClaimView], decided: Mapping[str, str]) -> ShardSpec:
    """The spec with the sizes that volumes have reached, or are about to get (`decided`, by pool)."""
    rules = autogrow_rules(spec)
    if not rules:
        return spec
    pools = or_default(spec.pools, {})
    grown = {name: _grown_pool(name, pools[name], claims, decided) for name in rules}
    return replace(spec, pools={**pools, **grown})


def _grown_pool(name: str, pool: Pool, claims: Sequence[ClaimView], decided: Mapping[str, str]) -> Pool:
    storage = or_default(pool.storage, PoolStorage())
    size = current_size(name, storage, claims)
    if name in decided and parse_quantity(decided[name]) > parse_quantity(size):
        size = decided[name]
    return replace(pool, storage=replace(storage, size=size))


def current_size(pool: str, storage: PoolStorage, claims: Sequence[ClaimView]) -> str | int:
    """The size in the spec, or that of the largest claim."""
    written: str | int = DEFAULT_SIZE if storage.size is UNSET else storage.size
    sizes: list[str | int] = [written, *(requested(claim) for claim in pool_claims(pool, claims))]
    return max(sizes, key=parse_quantity)


def pool_claims(pool: str, claims: Sequence[ClaimView]) -> list[ClaimView]:
    return [
        claim
        for claim in claims
        if claim.metadata.labels.get(POOL_LABEL) == pool and claim.metadata.deletion_timestamp is None
    ]


def decide_growth(
    name: str, storage: PoolStorage, claims: Sequence[ClaimView], used: Mapping[str, int]
) -> PoolGrowth | None:
    """None if nothing has to grow. `used` are the bytes that servers store, by pod. While a volume is being resized
    none grows again: its capacity is not known yet."""
    rule, own = storage.autogrow, pool_claims(name, claims)
    if rule is UNSET or any(_is_resizing(claim) for claim in own):
        return None
    full = next((claim for claim in own if fills_up(rule, used.get(_pod(claim), 0), _capacity(claim))), None)
    if full is None:
        return None
    size = current_size(name, storage, claims)
    percent = round(100 * used[_pod(full)] / _capacity(full))
    what = f"{full.metadata.name} is {percent}% full"
    next_size = grown_size(rule, size)
    if next_size is None:
        cure = "raise storage.autogrow.max, or delete data"
        return PoolGrowth(
            name, str(size), f"{what}, and pool {name} has its largest size {size}; {cure}", True
        )
    return PoolGrowth(name, next_size, f"volumes of pool {name} grow from {size} to {next_size}: {what}")


def _pod(claim: ClaimView) -> str:
    return claim.metadata.name.removeprefix(f"{CLAIM}-")


def _capacity(claim: ClaimView) -> Fraction:
    return parse_quantity(str(claim.status.capacity.get("storage", "0")))


def _is_resizing(claim: ClaimView) -> bool:
    return claim.status.phase == BOUND and _capacity(claim) < parse_quantity(requested(claim))
