"""Counts the clients of gateways and poolers, from the Prometheus figures that they serve.

Counts are read while a cell or a shard drains and answered from memory for a few seconds. A pod that does not answer,
or that pushes its metrics elsewhere, has an unknown number of clients.

A pooler has no clients of its own: gateways share its connections. Those on which a statement or a transaction runs
count, and the requests that wait for one; idle ones do not.
"""

import asyncio
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from steward.kube.bounded_cache import TtlCache
from steward.kube.clock import Clock
from steward.multigres.objects import gateway, pool
from steward.multigres.objects.metadata import COMPONENT_LABEL
from steward.multigres.objects.pod_spec import Port
from steward.multigres.objects.pool_containers import POOLER_METRICS
from steward.multigres.views import PodView
from steward.runtime.manager.connect_to import Redirect

TIMEOUT_SECONDS: Final = 1.0
KEPT_SECONDS: Final = 10.0
UNKNOWN_SECONDS: Final = 30.0
UNKNOWN: Final = -1
MAX_BYTES: Final = 4 << 20
_VALUE: Final = rb" ([0-9.e+]{1,20})\s"


class _Figures(NamedTuple):
    """Where pods of a component serve their figures, and which of them are summed up."""

    port: Port
    pattern: re.Pattern[bytes]


_COMPONENTS: Final = {
    gateway.COMPONENT: _Figures(
        gateway.METRICS,
        re.compile(rb"^mg_gateway_client_connections(?:\{[^}\n]*\})?" + _VALUE, re.MULTILINE),
    ),
    pool.COMPONENT: _Figures(
        POOLER_METRICS,
        re.compile(
            rb"^(?:mg_pooler_server_connections\{[^}\n]*state=\"active\"[^}\n]*\}"
            rb"|mg_pooler_client_waiting_connections(?:\{[^}\n]*\})?)" + _VALUE,
            re.MULTILINE,
        ),
    ),
}


class ConnectionCounts:
    def __init__(self, clock: Clock, redirect: Redirect) -> None:
        self._redirect = redirect
        self._counts: TtlCache[str, int] = TtlCache(clock, KEPT_SECONDS)

    def count(self, pod: PodView) -> int | None:
        known = self._counts.get(pod.metadata.uid)
        return None if known == UNKNOWN else known

    async def refresh(self, pods: Iterable[PodView]) -> None:
        """A pod that did not answer is left alone for a while: a deletion must not wait for it again and again."""
        asked = [
            pod
            for pod in pods
            if pod.status.pod_ip and component_of(pod) and self._counts.get(pod.metadata.uid) != UNKNOWN
        ]
        counts = await asyncio.gather(*(self._read(pod) for pod in asked))
        for pod, count in zip(asked, counts, strict=True):
            seconds = UNKNOWN_SECONDS if count is None else KEPT_SECONDS
            self._counts.set(pod.metadata.uid, UNKNOWN if count is None else count, seconds)

    async def _read(self, pod: PodView) -> int | None:
        component = component_of(pod)
        address = self._redirect(pod.status.pod_ip, _COMPONENTS[component].port.number)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return parse_connections(component, await _get(*address))
        except (OSError, TimeoutError, ValueError):
            return None


async def _get(host: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        # HTTP/1.0: the body ends with the connection.
        writer.write(b"GET /metrics HTTP/1.0\r\nAccept: text/plain\r\n\r\n")
        await writer.drain()
        parts = []
        size = 0
        while size < MAX_BYTES and (part := await reader.read(65536)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    finally:
        writer.close()


def component_of(pod: PodView) -> str:
    """Of a pod that has figures; "" for any other."""
    component = pod.metadata.labels.get(COMPONENT_LABEL, "")
    return component if component in _COMPONENTS else ""


def parse_connections(component: str, answer: bytes) -> int | None:
    """The sum of the figures of a component, over all labels; None if the answer has none of them."""
    found = _COMPONENTS[component].pattern.findall(answer)
    return round(sum(map(float, found))) if found and answer.split(None, 2)[1:2] == [b"200"] else None
