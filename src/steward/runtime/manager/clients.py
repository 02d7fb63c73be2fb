"""The way to the API server, with the engine's hooks in it.

Two clients over the same credentials. `client` is what controllers write through: each write is stopped as the last
step before the socket unless this process leads. `replica_client` is for what every replica must be able to write by
itself, such as its webhook certificates, and for questions that have no effect.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from steward.kube.client.client import Client, connect
from steward.kube.clock import Clock, SystemClock
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.config.settings import ConnectionSettings
from steward.runtime.manager.identity import Identity
from steward.runtime.manager.settings import Settings
from steward.runtime.manager.write_fence import WriteGuard
from steward.runtime.observability import tracing
from steward.runtime.observability.metrics import Metrics


@dataclass(frozen=True)
class Connection:
    client: Client
    replica_client: Client
    guard: WriteGuard
    metrics: Metrics
    identity: Identity
    namespace: str
    """Where this process lives: its lease and its Secrets are there."""
    clock: Clock

    async def close(self) -> None:
        await self.client.close()
        await self.replica_client.close()


async def open_connection(
    settings: Settings, identity: Identity, environ: Mapping[str, str] = os.environ
) -> Connection:
    """Reads the kubeconfig that the settings name. Nothing is sent before the first call."""
    found = load_settings(
        ConfigSource(kubeconfig=settings.kubeconfig, context=settings.context, environ=environ)
    )
    guard, metrics, clock = WriteGuard(), Metrics(), SystemClock()
    open_one = _Opener(found, settings, identity, metrics)
    return Connection(
        client=await open_one(guard),
        replica_client=await open_one(None),
        guard=guard,
        metrics=metrics,
        identity=identity,
        namespace=settings.namespace or environ.get("POD_NAMESPACE") or found.namespace,
        clock=clock,
    )


@dataclass(frozen=True)
class _Opener:
    found: ConnectionSettings
    settings: Settings
    identity: Identity
    metrics: Metrics

    async def __call__(self, guard: WriteGuard | None) -> Client:
        # Not at the top: `steward preview` has a connection of its own, and need not wait for an HTTP client.
        from steward.kube.transport.transport import Hooks, TransportOptions

        hooks = Hooks(on_request=self.metrics.request_answered, headers_for=tracing.headers)
        if guard is not None:
            hooks = replace(hooks, before_write=guard.check)
        options = TransportOptions(
            user_agent=self.identity.user_agent,
            qps=self.settings.kube_api_qps,
            burst=int(self.settings.kube_api_burst),
            hooks=hooks,
        )
        return await connect(self.found, options)
