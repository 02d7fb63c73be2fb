"""Reads the passwords of a cluster's roles, makes those that do not exist yet, and asks for the roles in Postgres.

A made password is in the Secret of its role, which the plan of the cluster applies. Roles are requested only after
that, so that no password exists in Postgres alone.
"""

import secrets as randomness

from msgspec import UNSET

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.multigres import names, reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.postgres import RoleEntry
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.cluster.external_refs import ExternalReferences
from steward.multigres.controllers.postgres_access.role_states import RoleRequest, RoleStates
from steward.multigres.objects.accounts import Credentials, RoleAccounts, RoleKey
from steward.multigres.objects.secrets import PASSWORD_KEY
from steward.multigres.resolution.external_refs import MissingReference
from steward.multigres.resolution.postgres.roles import (
    DatabaseRoles,
    can_log_in,
    database_roles,
    default_database,
    valid_until_seconds,
)
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.pause import is_paused
from steward.multigres.status.roles import RolesReport
from steward.multigres.views import ClusterView
from steward.postgres.roles import DeclaredRole, DeclaredRoles


class RoleAccountReader:
    def __init__(self, states: RoleStates, references: ExternalReferences) -> None:
        self._states = states
        self._references = references

    async def read(
        self, cluster: ClusterView, spec: MultigresClusterSpec, resolved: ResolvedCluster
    ) -> RoleAccounts:
        databases = database_roles(spec, resolved)
        default = default_database(resolved)
        if not databases:
            return RoleAccounts(default)
        passwords = await self._passwords(cluster, databases)
        accounts = RoleAccounts(default, databases, passwords)
        return accounts._replace(
            accepted=self._accepted(cluster, accounts), application=await self._application(cluster)
        )

    async def _passwords(
        self, cluster: ClusterView, databases: tuple[DatabaseRoles, ...]
    ) -> dict[RoleKey, str]:
        found = {}
        for roles in databases:
            for entry in roles.entries:
                password = await self._password(cluster, roles.database, entry) if can_log_in(entry) else None
                if password is not None:
                    found[roles.database, entry.name] = password
        return found

    async def _password(self, cluster: ClusterView, database: str, entry: RoleEntry) -> str | None:
        namespace, reference = cluster.metadata.namespace, entry.password_secret_ref
        if reference is not UNSET:
            secret = Key(namespace, reference.name)
            return await self._references.text(secret, or_default(reference.key, PASSWORD_KEY))
        secret = Key(namespace, names.role_secret(cluster.metadata.name, database, entry.name))
        return await self._references.text(secret, PASSWORD_KEY) or randomness.token_urlsafe(24)

    async def _application(self, cluster: ClusterView) -> Credentials | None:
        found = await self._references.published_account(*key_of(cluster))
        return None if found is None else Credentials(*found)

    def _accepted(self, cluster: ClusterView, accounts: RoleAccounts) -> frozenset[RoleKey]:
        outcome = self._states.outcome(key_of(cluster))
        if outcome is None:
            return frozenset()
        return frozenset(
            (declared.database, role.name)
            for declared in declared_roles(accounts)
            for role in declared.roles
            if (declared.database, role) in outcome.accepted
        )

    def request(self, cluster: ClusterView, superuser: str | None, accounts: RoleAccounts) -> None:
        """To be called when the Secrets of the accounts exist."""
        if is_paused(cluster):
            return
        databases = declared_roles(accounts)
        wanted = RoleRequest(superuser, databases) if databases and superuser is not None else None
        self._states.expect(key_of(cluster), wanted)

    def report(self, cluster: ClusterView, accounts: RoleAccounts) -> RolesReport:
        outcome, declared = self._states.outcome(key_of(cluster)), declared_roles(accounts)
        everyone = {(each.database, role.name) for each in declared for role in each.roles}
        if outcome is None:
            return RolesReport(len(everyone))
        is_settled = everyone <= accounts.accepted and not outcome.problems
        return RolesReport(len(everyone), is_settled, outcome.problems, outcome.waiting)


def declared_roles(accounts: RoleAccounts) -> tuple[DeclaredRoles, ...]:
    """Without roles whose password Secret is missing: that is reported as a missing reference."""
    return tuple(
        DeclaredRoles(
            roles.database,
            tuple(
                _declared(accounts, roles.database, entry)
                for entry in roles.entries
                if not can_log_in(entry) or (roles.database, entry.name) in accounts.passwords
            ),
            roles.owner if (roles.database, roles.owner) in accounts.passwords else "",
            roles.drops_removed and _knows_all(accounts, roles),
        )
        for roles in accounts.databases
    )


def _knows_all(accounts: RoleAccounts, roles: DatabaseRoles) -> bool:
    """A role whose password is missing is declared all the same: it is not dropped."""
    return all(
        not can_log_in(entry) or (roles.database, entry.name) in accounts.passwords for entry in roles.entries
    )


def _declared(accounts: RoleAccounts, database: str, entry: RoleEntry) -> DeclaredRole:
    return DeclaredRole(
        entry.name,
        can_log_in(entry),
        accounts.passwords.get((database, entry.name)),
        valid_until_seconds(entry),
        tuple(sorted(or_default(entry.member_of, []))),
    )


def missing_passwords(accounts: RoleAccounts) -> list[MissingReference]:
    return [
        MissingReference(
            reasons.SECRET_NOT_FOUND,
            f"spec.databases[{roles.database}].roles[{entry.name}].passwordSecretRef: Secret"
            f" {entry.password_secret_ref.name} with a password does not exist; create it",
        )
        for roles in accounts.databases
        for entry in roles.entries
        if entry.password_secret_ref is not UNSET and (roles.database, entry.name) not in accounts.passwords
    ]
