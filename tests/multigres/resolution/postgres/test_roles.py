"""Which roles each database has."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.postgres.roles import DatabaseRoles, database_roles, role_problems
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates


def spec_of(*databases: dict[str, Any], **fields: Any) -> MultigresClusterSpec:
    written: dict[str, Any] = {"cells": [{"zone": "a"}], "databases": list(databases), **fields}
    return msgspec.convert(written, MultigresClusterSpec)


def roles_of(spec: MultigresClusterSpec) -> tuple[DatabaseRoles, ...]:
    return database_roles(spec, resolve(ClusterIdentity("ns", "c"), spec, Templates({}, {}, {})))


def test_a_cluster_that_asks_for_nothing_has_no_roles() -> None:
    assert roles_of(spec_of({"name": "shop"})) == ()


@pytest.mark.parametrize(
    ("database", "owner"),
    [
        ({"name": "shop"}, "shop"),
        ({"name": "shop", "ownerRole": "keeper"}, "keeper"),
        ({"name": "postgres"}, "app"),
        ({"name": "2048"}, "app"),
        ({"name": "pg_stats"}, "app"),
    ],
    ids=lambda value: value["name"] if isinstance(value, dict) else "",
)
def test_each_database_has_an_owner(database: dict[str, Any], owner: str) -> None:
    [roles] = roles_of(spec_of({**database, "default": True}, applicationRole="Owner"))
    assert (roles.owner, [entry.name for entry in roles.entries]) == (owner, [owner])


def test_the_database_that_is_added_by_default_has_an_owner_as_well() -> None:
    spec = spec_of({"name": "shop"}, applicationRole="Owner")
    assert [(roles.database, roles.owner) for roles in roles_of(spec)] == [
        ("postgres", "app"),
        ("shop", "shop"),
    ]


def test_a_written_entry_describes_the_owner() -> None:
    entry = {"name": "shop", "passwordSecretRef": {"name": "mine"}}
    [roles] = roles_of(spec_of({"name": "shop", "default": True, "roles": [entry]}, applicationRole="Owner"))
    [owner] = roles.entries
    assert msgspec.to_builtins(owner) == entry


def test_roles_are_declared_without_an_owner() -> None:
    [roles] = roles_of(spec_of({"name": "shop", "default": True, "roles": [{"name": "reports"}]}))
    assert (roles.owner, [entry.name for entry in roles.entries]) == ("", ["reports"])


def test_a_database_whose_last_role_was_removed_is_still_compared_if_roles_are_dropped() -> None:
    [roles] = roles_of(spec_of({"name": "shop", "default": True, "removedRoles": "Drop"}))
    assert (roles.entries, roles.drops_removed) == ((), True)


@pytest.mark.parametrize(
    ("role", "field"),
    [
        ({"name": "shop", "login": False}, "login"),
        ({"name": "x", "validUntil": "next year or so....."}, "validUntil"),
    ],
    ids=["owner-without-login", "invalid-time"],
)
def test_roles_that_cannot_be_are_problems(role: dict[str, Any], field: str) -> None:
    spec = spec_of({"name": "shop", "roles": [role]}, applicationRole="Owner")
    assert [problem.field for problem in role_problems(spec)] == [f"spec.databases[0].roles[0].{field}"]
