"""Views with the fields that `readiness` uses."""

from typing import Any

from msgspec import Struct

from steward.kube.objects.canonical import is_built_in
from steward.kube.objects.conditions import Conditions
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import ObjectMeta


class RollingUpdate(Struct, rename="camel", frozen=True, gc=False):
    partition: int = 0


class UpdateStrategy(Struct, rename="camel", frozen=True, gc=False):
    type: str = ""
    rolling_update: RollingUpdate | None = None


class AnyItem(Struct, frozen=True, gc=False):
    """A list item of which only the presence matters."""


class ReadinessSpec(Struct, rename="camel", frozen=True, gc=False):
    replicas: int = 1
    completions: int = 1
    suspend: bool = False
    type: str = ""
    storage_class_name: str = ""
    """Of a PersistentVolumeClaim. The API server fills in the default class."""
    update_strategy: UpdateStrategy = UpdateStrategy()


class LoadBalancer(Struct, frozen=True, gc=False):
    ingress: tuple[AnyItem, ...] = ()


class ContainerWaiting(Struct, frozen=True, gc=False):
    reason: str = ""
    message: str = ""


class ContainerState(Struct, frozen=True, gc=False):
    waiting: ContainerWaiting | None = None


class ContainerStatus(Struct, rename="camel", frozen=True, gc=False):
    name: str = ""
    state: ContainerState = ContainerState()


class ReadinessStatus(Struct, rename="camel", frozen=True, gc=False):
    observed_generation: int = 0
    phase: str = ""
    conditions: Conditions = ()
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    desired_number_scheduled: int = 0
    updated_number_scheduled: int = 0
    number_ready: int = 0
    succeeded: int = 0
    load_balancer: LoadBalancer = LoadBalancer()
    container_statuses: tuple[ContainerStatus, ...] = ()


class ReadinessView(Struct, frozen=True, gc=False):
    """A view of any built-in kind."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ReadinessSpec = ReadinessSpec()
    status: ReadinessStatus = ReadinessStatus()


class CustomStatus(Struct, rename="camel", frozen=True, gc=False):
    observed_generation: Any = None
    conditions: Any = None


class CustomReadinessView(Struct, frozen=True, gc=False):
    """A view of a custom resource, whose status may have any structure."""

    metadata: ObjectMeta = ObjectMeta()
    status: CustomStatus | list[Any] | str | int | float | bool | None = None


def readiness_view(kind: Kind) -> type[ReadinessView] | type[CustomReadinessView]:
    """The view that a cache of this kind needs for `readiness`."""
    return ReadinessView if is_built_in(kind) else CustomReadinessView
