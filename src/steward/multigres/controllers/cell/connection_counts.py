"""Counts the clients of gateways, from the Prometheus figures that they serve.

Counts are read while a cell drains and answered from memory for a few seconds. A gateway that does not answer, or that
pushes its metrics elsewhere, has an unknown number of clients.
"""

import asyncio
import re
from collections.abc import Iterable
from typing import Final

from steward.kube.bounded_cache import TtlCache
from steward.kube.clock import Clock
from steward.multigres.objects.gateway import METRICS
from steward.multigres.views import PodView
from steward.runtime.manager.connect_to import Redirect

TIMEOUT_SECONDS: Final = 1.0
KEPT_SECONDS: Final = 10.0
UNKNOWN_SECONDS: Final = 30.0
UNKNOWN: Final = -1
MAX_BYTES: Final = 4 << 20
_CONNECTIONS: Final = re.compile(
    rb"^mg_gateway_client_connections(?:\{[^}\n]*\})? ([0-9.e+]{1,20})\s", re.MULTILINE
)


class ConnectionCounts:
    def __init__(self, clock: Clock, redirect: Redirect) -> None:
        self._redirect = redirect
        self._counts: TtlCache[str, int] = TtlCache(clock, KEPT_SECONDS)

    def count(self, pod: PodView) -> int | None:
        known = self._counts.get(pod.metadata.uid)
        return None if known == UNKNOWN else known

    async def refresh(self, pods: Iterable[PodView]) -> None:
        """A gateway that did not answer is left alone for a while: a deletion must not wait for it again and again."""
        asked = [pod for pod in pods if pod.status.pod_ip and self._counts.get(pod.metadata.uid) != UNKNOWN]
        counts = await asyncio.gather(*(self._read(pod) for pod in asked))
        for pod, count in zip(asked, counts, strict=True):
            seconds = UNKNOWN_SECONDS if count is None else KEPT_SECONDS
            self._counts.set(pod.metadata.uid, UNKNOWN if count is None else count, seconds)

    async def _read(self, pod: PodView) -> int | None:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return parse_connections(await _get(*self._redirect(pod.status.pod_ip, METRICS.number)))
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


def parse_connections(answer: bytes) -> int | None:
    """The sum over all endpoints of a gateway; None if the answer has no such figure."""
    found = _CONNECTIONS.findall(answer)
    return round(sum(map(float, found))) if found and answer.split(None, 2)[1:2] == [b"200"] else None
