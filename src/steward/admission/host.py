"""The process that hosts the webhooks, as protocols. `runtime.manager.Manager` implements them and is not imported."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from prometheus_client import CollectorRegistry

from steward.kube.client.client import Client
from steward.kube.clock import Clock

S = TypeVar("S", bound="ServiceLike")


class ServiceLike(Protocol):
    @property
    def name(self) -> str: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    def problem(self) -> str: ...


class WebhookSettings(Protocol):
    @property
    def webhooks(self) -> str: ...

    @property
    def webhook_bind_address(self) -> str: ...

    @property
    def webhook_cert_path(self) -> str: ...

    @property
    def webhook_service(self) -> str: ...

    @property
    def webhook_url(self) -> str: ...

    @property
    def namespaces(self) -> tuple[str, ...]: ...


class HasRegistry(Protocol):
    registry: CollectorRegistry


class HostConnection(Protocol):
    @property
    def replica_client(self) -> Client: ...

    @property
    def namespace(self) -> str: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def metrics(self) -> HasRegistry: ...


class WebhookHost(Protocol):
    @property
    def settings(self) -> WebhookSettings: ...

    @property
    def connection(self) -> HostConnection: ...

    def shared_service(self, kind: type[S], make: Callable[[], S]) -> S: ...
