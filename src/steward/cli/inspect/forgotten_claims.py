"""Volume claims of clusters that are gone: no object shows them, and they hold data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from steward.cli.inspect.object_tree import CLUSTER_LABEL
from steward.kube.client.client import Client
from steward.kube.errors import Forbidden
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Key, Manifest
from steward.kube.objects.options import ListQuery


async def read_forgotten_claims(client: Client, namespace: str, clusters: Iterable[Key]) -> Counter[Key]:
    """By cluster, how many claims there are; none for a user who may not list them."""
    query = ListQuery(namespace=namespace, label_selector=CLUSTER_LABEL)
    try:
        listing = await client.list(PERSISTENT_VOLUME_CLAIM, query)
    except Forbidden:
        return Counter()
    return forgotten_claims(listing.items, clusters)


def forgotten_claims(claims: Iterable[Manifest], clusters: Iterable[Key]) -> Counter[Key]:
    """Pure."""
    owners = (_cluster_of(claim) for claim in claims)
    known = set(clusters)
    return Counter(owner for owner in owners if owner not in known)


def _cluster_of(claim: Manifest) -> Key:
    meta = claim["metadata"]
    return Key(meta["namespace"], meta["labels"][CLUSTER_LABEL])
