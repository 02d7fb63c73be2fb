"""Access of a pool's pods to their repository, and the claims of repositories on volumes."""

from typing import Any

import pytest

from steward.multigres.objects.repository.access import BackupAccess, backup_access
from steward.multigres.objects.repository.claims import repository_claims
from tests.multigres.objects.repository.support.repositories import (
    ALL,
    OWN_TO_A_NODE,
    S3,
    SHARED,
    Z1,
    Z2,
    env,
    inputs,
)


def access(**s3: Any) -> BackupAccess:
    return backup_access(inputs({"type": "s3", "s3": {**S3, **s3}}), "z1")


def test_only_the_operator_expires_backups() -> None:
    assert env(access())["PGBACKREST_EXPIRE_AUTO"] == "n"


def test_certificate_of_an_endpoint_is_checked_with_the_given_authorities() -> None:
    found = access(endpoint="https://s3", caSecret="s3-ca")
    assert env(found)["PGBACKREST_REPO1_STORAGE_CA_FILE"] == "/certs/s3/ca.crt"
    assert env(found)["PGBACKREST_REPO1_STORAGE_VERIFY_TLS"] == "y"
    assert "s3-ca" in [each.get("secret", {}).get("secretName") for each in found.volumes]
    assert "/certs/s3" in [each["mountPath"] for each in found.mounts]


def test_style_of_addresses_is_set_only_if_it_is_given() -> None:
    assert env(access(uriStyle="path"))["PGBACKREST_REPO1_S3_URI_STYLE"] == "path"
    assert "PGBACKREST_REPO1_S3_URI_STYLE" not in env(access())


def test_only_the_pooler_gets_the_passphrases() -> None:
    found = backup_access(inputs({"type": "s3", "s3": S3, "encryption": {"secretName": "keys"}}), "z1")
    assert found.pooler_flags == ["--pgbackrest-cipher-key-file=/secrets/pgbackrest-cipher/keys.json"]
    assert [each["mountPath"] for each in found.pooler_mounts] == ["/secrets/pgbackrest-cipher"]
    assert "pgbackrest-cipher" not in [each["name"] for each in found.mounts]
    assert not access().pooler_flags


@pytest.mark.parametrize(
    ("backup", "cells", "existing", "expected"),
    [
        (OWN_TO_A_NODE, ("z1",), (), [ALL]),
        (OWN_TO_A_NODE, ("z1",), (Z1,), [Z1]),
        (OWN_TO_A_NODE, ("z1", "z2"), (), [ALL]),
        (OWN_TO_A_NODE, ("z1", "z2"), (Z1,), [Z1]),
        (OWN_TO_A_NODE, ("z2",), (Z1,), [Z1]),
        (OWN_TO_A_NODE, ("z1",), (ALL,), [ALL]),
        (OWN_TO_A_NODE, ("z1", "z2"), (Z1, Z2), sorted([Z1, Z2])),
        ({**OWN_TO_A_NODE, "pgbackrestTLS": {"secretName": "mine"}}, ("z1", "z2"), (), sorted([Z1, Z2])),
        (SHARED, ("z1",), (), [Z1]),
        (SHARED, ("z1", "z2"), (), [ALL]),
        (SHARED, ("z1", "z2"), (Z1,), [Z1]),
        (SHARED, ("z2",), (Z1,), [Z1]),
        (SHARED, ("z1",), (ALL,), [ALL]),
        (SHARED, ("z1", "z2"), (Z1, Z2), sorted([Z1, Z2])),
    ],
    ids=[
        *(
            "served, one cell",
            "served, one cell of an earlier release",
            "served, new",
            "served, a cell added",
            "served, another cell",
        ),
        *("served, a cell removed", "a claim per cell of an earlier release", "own certificates"),
        *("one cell", "new", "a cell added", "another cell", "a cell removed", "of two cells"),
    ],
)
def test_claims_of_a_repository(
    backup: dict[str, Any], cells: tuple[str, ...], existing: tuple[str, ...], expected: list[str]
) -> None:
    shard = inputs(backup, *cells, existing=frozenset(existing))
    assert [each["metadata"]["name"] for each in repository_claims(shard, list(cells))] == expected
