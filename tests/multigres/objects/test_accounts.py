"""Which account each Secret of a cluster holds."""

import base64
from typing import Any

import pytest

from steward.multigres import names
from steward.multigres.api.postgres import PasswordSecret, RoleEntry
from steward.multigres.objects.accounts import Credentials, RoleAccounts, account_secrets, role_secret_names
from steward.multigres.objects.metadata import Owner
from steward.multigres.resolution.gateway_tls import ClientTls
from steward.multigres.resolution.postgres.roles import DatabaseRoles

OWNER = Owner("MultigresCluster", "ns", "c", "u")
KEY = ("shop", "shop")
ROLES = RoleAccounts(
    "shop",
    (DatabaseRoles("shop", "shop", (RoleEntry(name="shop"),)),),
    {KEY: "made"},
)


def secrets(superuser: str | None, roles: RoleAccounts) -> dict[str, dict[str, str]]:
    return {
        manifest["metadata"]["name"]: {
            key: base64.b64decode(value).decode() for key, value in manifest["data"].items()
        }
        for manifest in account_secrets(OWNER, superuser, roles)
    }


@pytest.mark.parametrize(("is_required", "ending"), [(False, ""), (True, "sslmode=require")])
def test_accounts_name_the_authority_of_the_gateways(is_required: bool, ending: str) -> None:
    tls = ClientTls("the authority", is_required)
    for manifest in account_secrets(OWNER, "p", ROLES._replace(accepted=frozenset({KEY})), tls):
        values = {key: base64.b64decode(value).decode() for key, value in manifest["data"].items()}
        assert values["ca.crt"] == "the authority"
        assert [values[key].endswith(ending) for key in ("uri", "jdbcUri")] == [True, True]
        assert ("sslmode" in values["uri"]) is is_required


def test_an_application_gets_everything_that_it_needs_to_connect() -> None:
    assert secrets("p@ss", RoleAccounts("shop"))["c-app"] == {
        "host": "c-multigateway.ns.svc",
        "port": "5432",
        "replicaPort": "5433",
        "user": "postgres",
        "password": "p@ss",
        "dbname": "shop",
        "uri": "postgresql://postgres:p%40ss@c-multigateway.ns.svc:5432/shop",
        "jdbcUri": "jdbc:postgresql://c-multigateway.ns.svc:5432/shop?user=postgres&password=p%40ss",
    }


def test_without_owners_the_superuser_is_the_only_account() -> None:
    assert list(secrets("super", RoleAccounts())) == ["c-app"]


def test_with_owners_the_superuser_has_a_secret_of_its_own() -> None:
    found = secrets("super", ROLES)
    assert {name: (data["user"], data["password"]) for name, data in found.items()} == {
        "c-app": ("shop", "made"),
        "c-superuser": ("postgres", "super"),
        names.role_secret("c", "shop", "shop"): ("shop", "made"),
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("shop", "made")),
        ({"application": Credentials("postgres", "super")}, ("postgres", "super")),
        ({"application": Credentials("postgres", "old-super")}, ("postgres", "super")),
        ({"application": Credentials("postgres", "super"), "accepted": frozenset({KEY})}, ("shop", "made")),
        ({"application": Credentials("shop", "old")}, ("shop", "old")),
        ({"application": Credentials("shop", "old"), "accepted": frozenset({KEY})}, ("shop", "made")),
        ({"application": Credentials("shop", "old"), "passwords": {}}, ("shop", "old")),
        ({"passwords": {}}, None),
    ],
    ids=[
        "new-cluster",
        "opted-in",
        "opted-in-during-a-rotation",
        "opted-in-and-accepted",
        "rotated",
        "rotated-and-accepted",
        "password-secret-missing",
        "nothing-known",
    ],
)
def test_applications_get_an_account_that_postgres_accepts(changes: Any, expected: Any) -> None:
    found = secrets("super", ROLES._replace(**changes)).get("c-app")
    assert (found and (found["user"], found["password"])) == expected


def test_a_role_with_a_given_password_gets_no_secret() -> None:
    given = RoleEntry(name="reports", password_secret_ref=PasswordSecret(name="mine"))
    databases = (DatabaseRoles("shop", "", (given, RoleEntry(name="group", login=False))),)
    roles = RoleAccounts("shop", databases, {("shop", "reports"): "x"})
    assert list(secrets("super", roles)) == ["c-app"]
    assert role_secret_names("c", databases) == {"shop/reports": "mine"}
