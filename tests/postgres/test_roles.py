"""Statements for declared roles, from what the server has."""

import pytest

from steward.postgres.roles import MARK, DeclaredRole, DeclaredRoles, LiveRole, removed_roles, role_changes
from steward.postgres.scram import scram_verifier

SALT = b"0123456789abcdef"
ROLE = DeclaredRole("shop", True, "secret")


def live(role: DeclaredRole, **changes: object) -> LiveRole:
    verifier = None if role.password is None else scram_verifier(role.password, b"another-salt----")
    found = LiveRole(role.name, role.can_login, verifier, role.valid_until, frozenset(role.member_of), MARK)
    return found._replace(**changes)


def statements(role: DeclaredRole, found: LiveRole | None) -> list[str]:
    existing = {} if found is None else {role.name: found}
    return [text for change in role_changes([role], existing, SALT) for text in change.statements]


def test_a_new_role_is_created_with_a_verifier_and_marked() -> None:
    created, mark = statements(ROLE._replace(valid_until=1_800_000_000), None)
    verifier = scram_verifier("secret", SALT)
    expected = f"CREATE ROLE \"shop\" LOGIN PASSWORD '{verifier}' VALID UNTIL '2027-01-15T08:00:00+00:00'"
    assert created == expected
    assert mark == "COMMENT ON ROLE \"shop\" IS 'managed by Steward'"


def test_a_role_that_is_as_declared_needs_no_statement() -> None:
    declared = ROLE._replace(valid_until=1_800_000_000)
    assert statements(declared, live(declared)) == []


@pytest.mark.parametrize(
    ("declared", "changes", "expected"),
    [
        (ROLE, {"can_login": False}, 'ALTER ROLE "shop" LOGIN'),
        (ROLE, {"valid_until": 5}, "ALTER ROLE \"shop\" VALID UNTIL 'infinity'"),
        (ROLE, {"verifier": None}, f"ALTER ROLE \"shop\" PASSWORD '{scram_verifier('secret', SALT)}'"),
        (ROLE, {"verifier": "md5abc"}, f"ALTER ROLE \"shop\" PASSWORD '{scram_verifier('secret', SALT)}'"),
        (DeclaredRole("shop", False), {"can_login": True}, 'ALTER ROLE "shop" NOLOGIN'),
    ],
    ids=["login", "validity", "no-password", "md5-password", "no-login"],
)
def test_only_what_differs_is_altered(
    declared: DeclaredRole, changes: dict[str, object], expected: str
) -> None:
    assert statements(declared, live(declared, **changes)) == [expected]


def test_a_role_that_others_created_is_left_alone() -> None:
    [change] = role_changes([ROLE], {"shop": live(ROLE, comment=None, can_login=False)}, SALT)
    assert change.statements == ()
    assert "was not created by Steward" in change.problem


def test_memberships_are_granted_and_taken_back_except_those_that_others_granted() -> None:
    declared = ROLE._replace(member_of=("reports",))
    found = live(ROLE, member_of=frozenset({"old", "by_hand"}), comment=f"{MARK}; member of: old")
    assert statements(declared, found) == [
        'GRANT "reports" TO "shop"',
        'REVOKE "old" FROM "shop"',
        f"COMMENT ON ROLE \"shop\" IS '{MARK}; member of: reports'",
    ]


def test_a_membership_that_others_granted_before_is_not_recorded_as_granted_here() -> None:
    declared = ROLE._replace(member_of=("reports",))
    assert statements(declared, live(ROLE, member_of=frozenset({"reports"}))) == []


def test_all_roles_are_created_before_memberships_are_granted() -> None:
    member = DeclaredRole("a", True, "x", member_of=("z",))
    changes = role_changes([member, DeclaredRole("z", False)], {}, SALT)
    verbs = [text.split()[0] for change in changes for text in change.statements]
    assert verbs == ["CREATE", "COMMENT", "CREATE", "COMMENT", "GRANT", "COMMENT"]


def test_only_marked_roles_that_are_not_declared_are_dropped() -> None:
    found = {
        "shop": live(ROLE),
        "gone": live(ROLE, name="gone"),
        "by_hand": live(ROLE, name="by_hand", comment=None),
    }
    changes = removed_roles(DeclaredRoles("shop", (ROLE,)), found)
    assert [change.statements for change in changes] == [('DROP ROLE "gone"',)]


def test_names_with_quotes_stay_names() -> None:
    created, _ = statements(DeclaredRole('a"; DROP ROLE x', False), None)
    assert created == 'CREATE ROLE "a""; DROP ROLE x" NOLOGIN'
