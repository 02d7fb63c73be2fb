"""The scale subresource: how many replicas were asked for, and how many there are."""

from msgspec import Struct

from steward.kube.objects.meta import ObjectMeta


class _Wanted(Struct, frozen=True):
    replicas: int = 0


class _Seen(Struct, frozen=True):
    replicas: int = 0
    selector: str = ""


class Scale(Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Wanted = _Wanted()
    status: _Seen = _Seen()

    @property
    def replicas(self) -> int:
        return self.spec.replicas
