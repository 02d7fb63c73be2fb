"""Keeps the last known state of a server for a while, so that a source that is away for a moment changes nothing. Pure.

Only for statuses: a decision about a pod needs what is known now.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from steward.multigres.servers.assessment import (
    RESTARTING,
    Server,
    ServerState,
    ShardServers,
)

GRACE_SECONDS = 30.0
NOT_REPORTED = "multiadmin has not reported it yet"


class KnownServers(NamedTuple):
    """What the previous status says. `states` is None if it was written by a version that did not report servers."""

    states: Mapping[str, ServerState] | None
    primary: str | None
    takes_writes: bool | None
    is_ready: bool = False

    def state_of(self, server: str) -> ServerState | None:
        if self.states is None:
            return ServerState.READY if self.is_ready else None
        return self.states.get(server)


def with_known_states(
    current: ShardServers, known: KnownServers, unknown_seconds: Callable[[str], float]
) -> ShardServers:
    """`unknown_seconds` is for how long a server has not been reported."""
    servers = tuple(_with_known_state(server, known, unknown_seconds) for server in current.servers)
    is_unknown = any(server.state is ServerState.UNKNOWN for server in servers)
    held = current._replace(servers=servers, unknown=current.unknown if is_unknown else "")
    if current.takes_writes is not None or is_unknown:
        return held
    return _with_known_primary(held, known)


def _with_known_state(server: Server, known: KnownServers, unknown_seconds: Callable[[str], float]) -> Server:
    previous = known.state_of(server.name)
    if server.state is ServerState.UNKNOWN and unknown_seconds(server.name) < GRACE_SECONDS:
        if previous in (None, ServerState.UNKNOWN, ServerState.MISSING, ServerState.TERMINATING):
            return server._replace(state=ServerState.STARTING, detail=NOT_REPORTED)
        return server._replace(state=previous, detail="")
    # A pooler starts its Postgres again and again: between two attempts it is as broken as during them.
    if previous is ServerState.DOWN and server.state is ServerState.STARTING and server.detail in RESTARTING:
        return server._replace(state=ServerState.DOWN, detail="")
    return server


def _with_known_primary(current: ShardServers, known: KnownServers) -> ShardServers:
    primary = current.primary or known.primary
    servers = tuple(server._replace(is_primary=server.name == primary) for server in current.servers)
    return current._replace(servers=servers, primary=primary, takes_writes=known.takes_writes)
