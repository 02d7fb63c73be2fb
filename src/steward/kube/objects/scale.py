"""The scale subresource: desired and current replicas."""

from msgspec import Struct

from steward.kube.objects.meta import ObjectMeta


class _ScaleSpec(Struct, frozen=True):
    replicas: int = 0


class _ScaleStatus(Struct, frozen=True):
    replicas: int = 0
    selector: str = ""


class Scale(Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _ScaleSpec = _ScaleSpec()
    status: _ScaleStatus = _ScaleStatus()

    @property
    def replicas(self) -> int:
        return self.spec.replicas
