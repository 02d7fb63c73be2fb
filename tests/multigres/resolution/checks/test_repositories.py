"""Each database has a repository of its own; a restored cluster archives into the one that it was restored from."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.checks.repositories import describe_repository
from steward.multigres.resolution.defaulting import with_defaults
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.resolution.validation import validate, validate_update

NONE = Templates({}, {}, {})
S3 = {"bucket": "b", "region": "r", "keyPrefix": "prod/"}
ENCRYPTION = {"secretName": "s"}


def typed(**spec: Any) -> MultigresClusterSpec:
    return msgspec.convert({"cells": [{"zone": "z1"}], **spec}, MultigresClusterSpec)


def resolved(**spec: Any) -> ResolvedCluster:
    return resolve(ClusterIdentity("ns", "shop"), typed(**spec), NONE)


def repositories(**spec: Any) -> dict[str, str]:
    return {each.name: describe_repository(each.backup) for each in resolved(**spec).databases}


def problems(**spec: Any) -> list[str]:
    return [f"{each.field}: {each.message}" for each in validate(typed(**spec), resolved(**spec))]


def s3(**fields: Any) -> dict[str, Any]:
    return {"type": "s3", "s3": {**S3, **fields}}


def test_databases_other_than_the_default_one_have_their_name_in_an_inherited_prefix() -> None:
    assert repositories(backup=s3(), databases=[{"name": "orders"}]) == {
        "postgres": "s3://b/prod",
        "orders": "s3://b/prod/orders",
    }


def test_database_keeps_a_prefix_of_its_own() -> None:
    databases = [{"name": "orders", "backup": s3(keyPrefix="orders-2")}]
    assert repositories(backup=s3(), databases=databases)["orders"] == "s3://b/orders-2"


def test_shards_have_the_repository_of_their_database() -> None:
    [_, orders] = resolved(backup=s3(), databases=[{"name": "orders"}]).databases
    assert describe_repository(orders.groups[0].shards[0].backup) == "s3://b/prod/orders"  # type: ignore[arg-type]


def test_two_databases_cannot_name_the_same_repository() -> None:
    databases = [{"name": "postgres"}, {"name": "orders", "backup": s3(keyPrefix="prod")}]
    [problem] = problems(backup=s3(), databases=databases)
    assert "database postgres has the same repository" in problem


def test_repository_of_another_endpoint_is_another_one() -> None:
    databases = [
        {"name": "postgres"},
        {"name": "orders", "backup": s3(keyPrefix="prod", endpoint="https://s3")},
    ]
    assert problems(backup=s3(), databases=databases) == []


def restored(**source: Any) -> dict[str, Any]:
    return {"restore": {"from": source}}


def test_restored_repository_is_that_of_the_backups() -> None:
    assert repositories(**restored(s3=S3)) == {"postgres": "s3://b/prod"}
    assert repositories(**restored(filesystem={"path": "/repo"})) == {"postgres": "volume at /repo"}


@pytest.mark.parametrize("source", [{"s3": S3}, {"filesystem": {"path": "/repo"}}])
def test_webhook_writes_the_restored_repository_as_the_default(source: dict[str, Any]) -> None:
    spec = {"cells": [{"zone": "z1"}], **restored(**source)}
    [kind] = source
    assert with_defaults(spec, NONE)["backup"] == {"type": kind, **source}


def test_restore_from_another_repository_than_that_of_the_backups_is_a_problem() -> None:
    [problem] = problems(**restored(s3={**S3, "keyPrefix": "old"}), backup=s3())
    assert "s3://b/old is not the repository of spec.backup, s3://b/prod" in problem
    assert problems(**restored(s3=S3), backup=s3()) == []


def test_encryption_of_an_existing_repository_cannot_change() -> None:
    plain, encrypted = {"backup": s3()}, {"backup": {**s3(), "encryption": ENCRYPTION}}
    [problem] = validate_update(resolved(**plain), resolved(**encrypted))
    assert problem.field.endswith("backup.encryption")
    moved = {"backup": {**s3(keyPrefix="new"), "encryption": ENCRYPTION}}
    assert validate_update(resolved(**plain), resolved(**moved)) == []
