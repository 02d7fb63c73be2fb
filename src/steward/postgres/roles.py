"""Which SQL statements bring the roles of a PostgreSQL server to what is declared. Pure.

A comment on each role that was created here marks it, and lists the memberships that were granted here. Roles without
the mark were created by others: they are neither changed nor dropped, and memberships that others granted stay. The
state is in the server itself, so that a restored backup or another process finds it.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from steward.postgres.scram import is_verifier_of, scram_verifier

MARK: Final = "managed by Steward"
_MEMBERSHIPS: Final = "; member of: "


class DeclaredRole(NamedTuple):
    name: str
    can_login: bool
    password: str | None = None
    valid_until: int | None = None
    """Seconds since 1970; None: without an end."""
    member_of: tuple[str, ...] = ()


class DeclaredRoles(NamedTuple):
    """The roles of one database. `owner` is "" if its owner is not managed."""

    database: str
    roles: tuple[DeclaredRole, ...]
    owner: str = ""
    drops_removed: bool = False


class LiveRole(NamedTuple):
    name: str
    can_login: bool
    verifier: str | None
    valid_until: int | None
    member_of: frozenset[str]
    comment: str | None

    @property
    def is_managed(self) -> bool:
        return self.comment is not None and self.comment.startswith(MARK)

    @property
    def granted(self) -> frozenset[str]:
        """The memberships that were granted here."""
        _, found, names = (self.comment or "").partition(_MEMBERSHIPS)
        return frozenset(names.split(", ")) if found else frozenset()


class RoleChange(NamedTuple):
    """Statements that take effect together; `problem` says instead why the role is left alone."""

    role: str
    statements: tuple[str, ...] = ()
    problem: str = ""


def quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def role_changes(
    declared: Sequence[DeclaredRole], live: Mapping[str, LiveRole], salt: bytes
) -> list[RoleChange]:
    """Creates all roles before it grants memberships: a role may be a member of a later one."""
    changes = [_attributes(role, live.get(role.name), salt) for role in declared]
    foreign = {change.role for change in changes if change.problem}
    managed = [role for role in declared if role.name not in foreign]
    changes += [_memberships(role, live.get(role.name)) for role in managed]
    return [change for change in changes if change.statements or change.problem]


def _attributes(role: DeclaredRole, live: LiveRole | None, salt: bytes) -> RoleChange:
    name = quoted(role.name)
    if live is None:
        options = " ".join([_login(role), *_password(role, None, salt), *_validity(role, None)])
        mark = f"COMMENT ON ROLE {name} IS {literal(MARK)}"
        return RoleChange(role.name, (f"CREATE ROLE {name} {options}", mark))
    if not live.is_managed:
        cure = f"rename one of the two, or let Steward manage it: COMMENT ON ROLE {name} IS {literal(MARK)}"
        return RoleChange(role.name, problem=f"exists and was not created by Steward; {cure}")
    login = [_login(role)] if role.can_login != live.can_login else []
    changed = [*login, *_password(role, live, salt), *_validity(role, live)]
    return RoleChange(role.name, (f"ALTER ROLE {name} {' '.join(changed)}",) if changed else ())


def _login(role: DeclaredRole) -> str:
    return "LOGIN" if role.can_login else "NOLOGIN"


def _password(role: DeclaredRole, live: LiveRole | None, salt: bytes) -> list[str]:
    if role.password is None or (live and live.verifier and is_verifier_of(role.password, live.verifier)):
        return []
    # A verifier consists of letters, digits and `$:+/=-`.
    return [f"PASSWORD '{scram_verifier(role.password, salt)}'"]


def _validity(role: DeclaredRole, live: LiveRole | None) -> list[str]:
    if role.valid_until == (None if live is None else live.valid_until):
        return []
    if role.valid_until is None:
        return ["VALID UNTIL 'infinity'"]
    return [f"VALID UNTIL '{datetime.fromtimestamp(role.valid_until, UTC).isoformat()}'"]


def _memberships(role: DeclaredRole, live: LiveRole | None) -> RoleChange:
    wanted = frozenset(role.member_of)
    present = frozenset() if live is None else live.member_of
    granted = frozenset() if live is None else live.granted
    name = quoted(role.name)
    grants = [f"GRANT {quoted(group)} TO {name}" for group in sorted(wanted - present)]
    revokes = [f"REVOKE {quoted(group)} FROM {name}" for group in sorted((granted - wanted) & present)]
    # A membership that existed before is not taken back when it is no longer declared.
    recorded = (wanted - present) | (granted & wanted)
    mark = [f"COMMENT ON ROLE {name} IS {literal(_comment(recorded))}"] if recorded != granted else []
    return RoleChange(role.name, (*grants, *revokes, *mark))


def _comment(memberships: frozenset[str]) -> str:
    return f"{MARK}{_MEMBERSHIPS}{', '.join(sorted(memberships))}" if memberships else MARK


def removed_roles(declared: DeclaredRoles, live: Mapping[str, LiveRole]) -> list[RoleChange]:
    """Roles that were created here and are no longer declared."""
    names = {role.name for role in declared.roles}
    removed = sorted(role.name for role in live.values() if role.is_managed and role.name not in names)
    return [RoleChange(name, (f"DROP ROLE {quoted(name)}",)) for name in removed]
