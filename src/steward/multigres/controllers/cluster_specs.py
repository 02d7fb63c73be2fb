"""The specs of clusters, decoded once for each generation.

The API server increases the generation with every change of the spec, and a status or annotation leaves both as they
are. Decoding the spec of a large cluster takes longer than most reconciles that need it.
"""

from typing import Final, NamedTuple

import msgspec

from steward.kube.bounded_cache import LruCache
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.views import ClusterView

MAX_CLUSTERS: Final = 64


class _DecodedSpec(NamedTuple):
    uid: str
    generation: int
    spec: MultigresClusterSpec


class ClusterSpecs:
    def __init__(self) -> None:
        self._decoded: LruCache[Key, _DecodedSpec] = LruCache(MAX_CLUSTERS)

    def decode(self, cluster: ClusterView) -> MultigresClusterSpec:
        """Raises msgspec.ValidationError for a spec that cannot be read. Callers do not change it."""
        meta, key = cluster.metadata, key_of(cluster)
        known = self._decoded.get(key)
        if known is not None and meta.generation and known[:2] == (meta.uid, meta.generation):
            return known.spec
        spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
        self._decoded.set(key, _DecodedSpec(meta.uid, meta.generation, spec))
        return spec
