"""Finds the values of Postgres settings below which the servers of a shard would not start.

Servers need at least what their primary runs with. The settings that they were given may be higher: Postgres may be
unable to start with them, and a correction must reach it then.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.controllers.postgres_access.user_secrets import UserSecrets
from steward.multigres.objects.pool import CLAIM
from steward.multigres.rollout.first_start import ShardHistory, first_start
from steward.multigres.rollout.postgres_settings import DEFAULTS, NeededSettings
from steward.multigres.servers.reports import ShardObservation
from steward.multigres.views import ClaimView, PodView, ShardView
from steward.postgres.address import PostgresAddress

NO_VALUES = NeededSettings({})


class ServerVolumes(NamedTuple):
    """The pods of a shard's servers, and its volume claims."""

    pods: Sequence[PodView] = ()
    claims: Sequence[ClaimView] = ()


class NeededSettingsReader:
    def __init__(self, context: MultigresContext) -> None:
        self._context = context
        self._servers = PostgresServers(context)
        self._secrets = UserSecrets(context)

    async def read(self, shard: ShardView, servers: ServerVolumes) -> NeededSettings:
        start = first_start(self._history(shard, servers))
        if start.is_outstanding:
            return NO_VALUES
        if start.retry_after is not None:
            self._context.servers.request_check(key_of(shard))
            return NeededSettings(None, start.retry_after)
        return NeededSettings(await self._running_values(shard, servers.pods))

    def facts(self, shard: Key) -> object:
        """Changes when another answer of `read` may follow."""
        seen = self._context.servers.get(shard)
        if seen is None:
            return None
        return {
            name: (report.role, report.is_initialized, report.is_running, report.is_ready)
            for name, report in seen.reports.items()
        }

    def _history(self, shard: ShardView, servers: ServerVolumes) -> ShardHistory:
        key, clock = key_of(shard), self._context.clock
        seen, registered = self._context.servers.get(key), self._context.primaries.last(key)
        return ShardHistory(
            shard.status,
            seen,
            0.0 if seen is None else clock.monotonic() - seen.at,
            registered.poolers if registered is not None and registered.is_answered else None,
            {pod.metadata.name: _started_seconds(pod, clock.now()) for pod in servers.pods},
            frozenset(
                claim.metadata.name.removeprefix(f"{CLAIM}-")
                for claim in servers.claims
                if claim.metadata.name.startswith(f"{CLAIM}-")
            ),
        )

    async def _running_values(self, shard: ShardView, pods: Sequence[PodView]) -> Mapping[str, int] | None:
        """The highest values of all servers that run; None if one of them does not answer. A standby that has started
        with a higher value may lead next, and the others would then need that value."""
        primary, seen = or_default(shard.status.primary, ""), self._context.servers.get(key_of(shard))
        running = [pod.metadata.name for pod in pods if not _is_down(seen, pod.metadata.name)]
        password = await self._secrets.superuser_password(shard) if primary in running else None
        if password is None:
            return None
        addresses = [self._servers.server(shard, name) for name in running]
        answers = await asyncio.gather(*(_current_values(each, password) for each in addresses))
        known = [answer for answer in answers if answer is not None]
        if len(known) < len(answers):
            return None
        return {name: max(answer[name] for answer in known) for name in DEFAULTS}


def _is_down(seen: ShardObservation | None, pod: str) -> bool:
    report = None if seen is None else seen.reports.get(pod)
    return report is not None and not report.is_running


def _started_seconds(pod: PodView, now: float) -> float:
    """Since its containers were started. Not since it was ready: the pod of a Postgres that cannot start never is."""
    started = next((each for each in pod.status.conditions if each.type == "Initialized"), None)
    if started is None or started.status != "True" or started.last_transition_time is None:
        return 0.0
    return now - from_timestamp(started.last_transition_time)


async def _current_values(server: PostgresAddress, password: str) -> dict[str, int] | None:
    # Imported on first use: the driver costs memory, and settings are seldom lowered.
    from steward.postgres import settings
    from steward.postgres.sessions import PostgresFailure

    try:
        return await settings.current_numbers(server, password, list(DEFAULTS))
    except PostgresFailure:
        return None
