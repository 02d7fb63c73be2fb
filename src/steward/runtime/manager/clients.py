"""The API clients of a process, with the engine's hooks.

Two clients with the same credentials. Controllers write through `client`: the write fence rejects each write before it
is sent unless this process leads. `replica_client` is for writes of every replica, such as webhook certificates, and
for requests without side effects.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from steward.kube.client.client import Client, connect
from steward.kube.clock import Clock, SystemClock
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.config.settings import ConnectionSettings
from steward.kube.transport.server_time import ServerTime
from steward.runtime.manager.identity import Identity
from steward.runtime.manager.settings import Settings
from steward.runtime.manager.write_fence import WriteFence
from steward.runtime.observability import tracing
from steward.runtime.observability.metrics import Metrics


@dataclass(frozen=True)
class Connection:
    client: Client
    replica_client: Client
    write_fence: WriteFence
    metrics: Metrics
    identity: Identity
    namespace: str
    """The namespace of this process, with its lease and its Secrets."""
    clock: Clock
    server_time: ServerTime = field(default_factory=lambda: ServerTime(SystemClock()))
    operator_namespace: str = ""
    """Where the operator is installed; empty for a process outside a cluster that was given no namespace: that of its
    kubeconfig's context is an ordinary namespace of users."""

    async def close(self) -> None:
        await self.client.close()
        await self.replica_client.close()


async def open_connection(
    settings: Settings, identity: Identity, environ: Mapping[str, str] = os.environ
) -> Connection:
    """Reads the kubeconfig of the settings. Nothing is sent before the first call."""
    found = load_settings(
        ConfigSource(kubeconfig=settings.kubeconfig, context=settings.context, environ=environ)
    )
    write_fence, metrics, clock = WriteFence(), Metrics(), SystemClock()
    server_time = ServerTime(clock)
    new_client = _ClientFactory(found, settings, identity, metrics, server_time)
    installed = settings.namespace or environ.get("POD_NAMESPACE") or found.pod_namespace
    return Connection(
        client=await new_client(write_fence),
        replica_client=await new_client(None),
        write_fence=write_fence,
        metrics=metrics,
        identity=identity,
        namespace=installed or found.namespace,
        clock=clock,
        server_time=server_time,
        operator_namespace=installed,
    )


@dataclass(frozen=True)
class _ClientFactory:
    found: ConnectionSettings
    settings: Settings
    identity: Identity
    metrics: Metrics
    server_time: ServerTime

    async def __call__(self, write_fence: WriteFence | None) -> Client:
        # Not at the top: `steward preview` uses a transport of its own and does not need to load this one.
        from steward.kube.transport.transport import Hooks, TransportOptions

        hooks = Hooks(
            on_request=self.metrics.count_request,
            headers_for=tracing.headers,
            on_date=self.server_time.note,
        )
        if write_fence is not None:
            hooks = replace(hooks, before_write=write_fence.check)
        options = TransportOptions(
            user_agent=self.identity.user_agent,
            qps=self.settings.kube_api_qps,
            burst=int(self.settings.kube_api_burst),
            hooks=hooks,
        )
        return await connect(self.found, options)
