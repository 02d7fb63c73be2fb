"""Roles that clusters ask for, and what their Postgres servers said last.

Postgres may be slow or away, and a cluster's worker must not wait for it: the cluster controller records here which
roles it wants, the roles controller sets them and records the outcome. Nothing is kept over a restart: until the first
outcome the last condition stays, and so does the published account.
"""

from typing import NamedTuple

from steward.kube.objects.kinds import Key
from steward.postgres.roles import DeclaredRole, DeclaredRoles
from steward.runtime.controller.triggers import Channel


class RoleRequest(NamedTuple):
    superuser_password: str
    databases: tuple[DeclaredRoles, ...]


class RolesOutcome(NamedTuple):
    """`accepted` are roles, with their database, that Postgres has as they were declared."""

    accepted: frozenset[tuple[str, DeclaredRole]] = frozenset()
    problems: tuple[str, ...] = ()
    waiting: str = ""


class RoleStates:
    def __init__(self, changes: Channel) -> None:
        self._changes = changes
        self._requests: dict[Key, RoleRequest] = {}
        self._outcomes: dict[Key, RolesOutcome] = {}
        self.requests = Channel()
        """Clusters whose roles are to be set."""

    def expect(self, cluster: Key, request: RoleRequest | None) -> None:
        if request is None:
            self.forget(cluster)
        elif self._requests.get(cluster) != request:
            self._requests[cluster] = request
            self.requests.enqueue(cluster)

    def request(self, cluster: Key) -> RoleRequest | None:
        return self._requests.get(cluster)

    def record(self, cluster: Key, outcome: RolesOutcome) -> None:
        if self._outcomes.get(cluster) != outcome:
            self._outcomes[cluster] = outcome
            self._changes.enqueue(cluster)

    def outcome(self, cluster: Key) -> RolesOutcome | None:
        return self._outcomes.get(cluster)

    def forget(self, cluster: Key) -> None:
        self._requests.pop(cluster, None)
        self._outcomes.pop(cluster, None)
