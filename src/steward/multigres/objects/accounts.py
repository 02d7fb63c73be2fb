"""Which accounts the Secrets of a cluster hold. Pure.

`{cluster}-app` holds an account that Postgres accepts: another one is published when Postgres has it. A Secret that
does not exist yet gets its account at once, because nobody uses another.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.objects.metadata import Manifest, Owner
from steward.multigres.objects.secrets import (
    NO_TLS,
    Account,
    connection_secret,
    role_secret,
    superuser_secret,
)
from steward.multigres.resolution import defaults
from steward.multigres.resolution.gateway_tls import ClientTls
from steward.multigres.resolution.postgres.roles import DatabaseRoles, can_log_in

RoleKey = tuple[str, str]
"""Database and role."""


class Credentials(NamedTuple):
    user: str
    password: str


class RoleAccounts(NamedTuple):
    """Roles of a cluster with what is known about their passwords."""

    database: str = defaults.SYSTEM_DATABASE
    """The default database."""
    databases: tuple[DatabaseRoles, ...] = ()
    passwords: Mapping[RoleKey, str] = {}
    """The desired ones, as far as their Secrets exist."""
    accepted: frozenset[RoleKey] = frozenset()
    """Roles that Postgres has with the desired password."""
    application: Credentials | None = None
    """The account in `{cluster}-app` now."""

    @property
    def owner(self) -> RoleKey | None:
        """The owner of the default database; None if the cluster does not manage owners."""
        found = (roles for roles in self.databases if roles.database == self.database and roles.owner)
        return next(((roles.database, roles.owner) for roles in found), None)


def account_secrets(
    owner: Owner, superuser: str | None, roles: RoleAccounts, tls: ClientTls = NO_TLS
) -> list[Manifest]:
    """`superuser` is the password that the superuser has in Postgres."""
    application = application_account(superuser, roles)
    return [
        *([] if application is None else [connection_secret(owner, application, tls)]),
        *_superuser_secret(owner, superuser, roles, tls),
        *_role_secrets(owner, roles, tls),
    ]


def application_account(superuser: str | None, roles: RoleAccounts) -> Account | None:
    current, role = roles.application, roles.owner
    if role is None:
        return None if superuser is None else Account(defaults.SUPERUSER, superuser, roles.database)
    desired = roles.passwords.get(role)
    if desired is not None and (current is None or role in roles.accepted):
        return Account(role[1], desired, roles.database)
    if current is None:
        return None
    is_superuser = current.user == defaults.SUPERUSER and superuser is not None
    return Account(
        current.user, superuser if is_superuser and superuser else current.password, roles.database
    )


def _superuser_secret(
    owner: Owner, superuser: str | None, roles: RoleAccounts, tls: ClientTls
) -> list[Manifest]:
    if roles.owner is None or superuser is None:
        return []
    return [superuser_secret(owner, Account(defaults.SUPERUSER, superuser, roles.database), tls)]


def _role_secrets(owner: Owner, roles: RoleAccounts, tls: ClientTls) -> Iterator[Manifest]:
    for database, role in made_passwords(roles.databases):
        if (database, role) in roles.passwords:
            yield role_secret(owner, Account(role, roles.passwords[database, role], database), tls)


def made_passwords(databases: tuple[DatabaseRoles, ...]) -> Iterator[RoleKey]:
    """Roles whose passwords the operator makes."""
    for roles in databases:
        for entry in roles.entries:
            if can_log_in(entry) and entry.password_secret_ref is UNSET:
                yield roles.database, entry.name


def role_secret_names(cluster: str, databases: tuple[DatabaseRoles, ...]) -> dict[str, str]:
    """For the status: where the account of each role is."""
    given = {
        f"{roles.database}/{entry.name}": entry.password_secret_ref.name
        for roles in databases
        for entry in roles.entries
        if entry.password_secret_ref is not UNSET
    }
    made = {
        f"{database}/{role}": names.role_secret(cluster, database, role)
        for database, role in made_passwords(databases)
    }
    return {**given, **made}
