"""The fields that the fake data plane reads: those that the real binaries know, and the types of pools."""

from collections.abc import Mapping

from msgspec import Struct

from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.objects import kinds
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.multigres.cache_rules import MANAGED_SELECTOR, SHARD, TOPO_SERVER
from steward.multigres.objects.metadata import COMPONENT_LABEL

READ_ONLY = "readOnly"


class Variable(Struct, frozen=True):
    name: str = ""
    value: str = ""


class Container(Struct, frozen=True):
    args: tuple[str, ...] = ()
    env: tuple[Variable, ...] = ()


class ClaimSource(Struct, frozen=True, rename="camel"):
    claim_name: str = ""


class Volume(Struct, frozen=True, rename="camel"):
    name: str = ""
    persistent_volume_claim: ClaimSource | None = None


class PodSpec(Struct, frozen=True):
    containers: tuple[Container, ...] = ()
    volumes: tuple[Volume, ...] = ()


class PodCondition(Struct, frozen=True):
    type: str = ""
    status: str = ""


class PodStatus(Struct, frozen=True, rename={"pod_ip": "podIP"}):
    pod_ip: str = ""
    conditions: tuple[PodCondition, ...] = ()


class PodView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def component(self) -> str:
        return self.metadata.labels.get(COMPONENT_LABEL, "")

    @property
    def is_terminating(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def is_ready(self) -> bool:
        ready = any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)
        return ready and not self.is_terminating


class TopoServerSpec(Struct, frozen=True):
    replicas: int = 3


class TopoServerView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: TopoServerSpec = TopoServerSpec()


class Pool(Struct, frozen=True):
    type: str = ""


class ShardSpec(Struct, frozen=True):
    pools: Mapping[str, Pool] = {}


class ShardView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: ShardSpec = ShardSpec()


class FakeDataPlaneCacheRules:
    """The caches of the fake data plane, for all namespaces or for some."""

    def __init__(self, namespaces: tuple[str, ...] = ()) -> None:
        everywhere = namespaces or (EVERY_NAMESPACE,)
        self.pod = CacheRule(kinds.POD, PodView, dict.fromkeys(everywhere, MANAGED_SELECTOR))
        self.topo_server = CacheRule(TOPO_SERVER, TopoServerView, dict.fromkeys(everywhere, ""))
        self.claim = CacheRule(
            kinds.PERSISTENT_VOLUME_CLAIM, Metadata, dict.fromkeys(everywhere, MANAGED_SELECTOR)
        )
        self.shard = CacheRule(SHARD, ShardView, dict.fromkeys(everywhere, ""))
