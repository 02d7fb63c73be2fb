"""The roles that each database of a cluster should have. Pure."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.cluster import DatabaseEntry, MultigresClusterSpec
from steward.multigres.api.postgres import ROLE_PATTERN, RoleEntry
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.resolved import ResolvedCluster, SpecProblem

OWNER = "Owner"
DROP = "Drop"
FALLBACK_OWNER = "app"


class DatabaseRoles(NamedTuple):
    """The roles of a database, its owner first. `owner` is "" if the cluster does not manage owners."""

    database: str
    owner: str
    entries: tuple[RoleEntry, ...]
    drops_removed: bool = False


def default_database(resolved: ResolvedCluster) -> str:
    return next(database.name for database in resolved.databases if database.default)


def database_roles(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> tuple[DatabaseRoles, ...]:
    """Databases without roles are left out: nothing is asked of their servers."""
    written = {entry.name: entry for entry in or_default(spec.databases, [])}
    has_owners = spec.application_role == OWNER
    found = (
        _roles_of(written.get(database.name, DatabaseEntry(name=database.name)), has_owners)
        for database in resolved.databases
    )
    return tuple(roles for roles in found if roles.entries or roles.drops_removed)


def _roles_of(database: DatabaseEntry, has_owner: bool) -> DatabaseRoles:
    entries, owner = or_default(database.roles, []), owner_role(database) if has_owner else ""
    is_written = any(entry.name == owner for entry in entries)
    added = [RoleEntry(name=owner)] if owner and not is_written else []
    drops = database.removed_roles == DROP
    return DatabaseRoles(database.name, owner, (*added, *entries), drops)


def owner_role(database: DatabaseEntry) -> str:
    """The name of the database, unless that cannot be a role."""
    can_be_role = re.fullmatch(ROLE_PATTERN, database.name) and not database.name.startswith("pg_")
    default = database.name if can_be_role and database.name != "postgres" else FALLBACK_OWNER
    return or_default(database.owner_role, default)


def can_log_in(entry: RoleEntry) -> bool:
    return or_default(entry.login, True)


def valid_until_seconds(entry: RoleEntry) -> int | None:
    if entry.valid_until is UNSET:
        return None
    return int(datetime.fromisoformat(entry.valid_until).timestamp())


def has_given_passwords(spec: MultigresClusterSpec) -> bool:
    """Whether a role has its password in a Secret of the user."""
    return any(
        entry.password_secret_ref is not UNSET
        for database in or_default(spec.databases, [])
        for entry in or_default(database.roles, [])
    )


def role_problems(spec: MultigresClusterSpec) -> Iterator[SpecProblem]:
    for index, database in enumerate(or_default(spec.databases, [])):
        for position, entry in enumerate(or_default(database.roles, [])):
            field = f"spec.databases[{index}].roles[{position}]"
            yield from _invalid_time(field, entry)
            if spec.application_role == OWNER and entry.name == owner_role(database):
                yield from _owner_without_login(field, entry)


def _invalid_time(field: str, entry: RoleEntry) -> Iterator[SpecProblem]:
    try:
        valid_until_seconds(entry)
    except ValueError:
        message = f"{entry.valid_until!r} is not a time such as 2027-01-01T00:00:00Z"
        yield SpecProblem(f"{field}.validUntil", message)


def _owner_without_login(field: str, entry: RoleEntry) -> Iterator[SpecProblem]:
    if not can_log_in(entry):
        message = f"{entry.name} owns the database and applications log in with it; give it login"
        yield SpecProblem(f"{field}.login", message)
