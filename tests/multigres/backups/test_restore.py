"""When a new cluster may be restored from a repository, and what came of it."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multiadmin.backup_answers import RepositoryBackup
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.multigres_backup import MultigresBackupSpec, MultigresBackupStatus
from steward.multigres.api.restore import RestoreSource
from steward.multigres.backups.repository import RepositoryListing
from steward.multigres.backups.restore import (
    RestoredShard,
    RestoreFacts,
    restore_outcome,
    restore_problem,
    restored_backup,
)
from steward.multigres.backups.restore_facts import restored_shards
from steward.multigres.names import ShardPath, backup_claim, shared_backup_claim
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from steward.multigres.views import MultigresBackupView

NOON = 1_787_313_600.0  # 2026-08-21 12:00:00 UTC
BUCKET = "s3://backups/shop"
SHARD = RestoredShard(
    ShardPath("shop", "postgres", "default", "0-inf"),
    BUCKET,
    frozenset({"main-0", "main-1"}),
    frozenset({"pgdata-main-0", "pgdata-main-1"}),
)
Z1, Z2 = (backup_claim(SHARD.path, cell) for cell in ("z1", "z2"))
ALL = shared_backup_claim(SHARD.path)
OWN_CERTIFICATES = {"type": "filesystem", "pgbackrestTLS": {"secretName": "mine"}}
ON_VOLUME = SHARD._replace(repository_claims=(frozenset({"repo", "repo-z1"}),))


def backup(name: str, backup_id: str, cluster: str = "shop", **status: Any) -> MultigresBackupView:
    known = {"phase": "Completed", "backup_id": backup_id, "repository": BUCKET, "server": "main-1", **status}
    spec = MultigresBackupSpec(cluster=cluster)
    return MultigresBackupView(ObjectMeta(name=name, namespace="ns"), spec, MultigresBackupStatus(**known))


OLD, NEW = backup("old", "20260819-020000F"), backup("new", "20260819-020000F_20260820-020000I")


def facts(**fields: Any) -> RestoreFacts:
    known: dict[str, Any] = {
        "source": RestoreSource(backup="new"),
        "shards": (SHARD,),
        "backups": (OLD, NEW),
        "claims": frozenset(),
        "users": {},
        "password_secret": "",
    }
    return RestoreFacts(**{**known, **fields})


def test_newest_backup_of_a_lost_cluster_can_be_restored() -> None:
    assert restore_problem(facts()) == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"source": RestoreSource(backup="none")}, "MultigresBackup none does not exist"),
        ({"source": RestoreSource(backup="old")}, "MultigresBackup new is newer than old"),
        ({"backups": (backup("new", "", phase="Running"),)}, "is Running, not Completed"),
        ({"backups": (backup("new", "1", cluster="other"),)}, "which this cluster does not have"),
        ({"backups": (backup("new", "1", server="main-9"),)}, "use the same cells and pools"),
        ({"backups": (backup("new", "1", repository="s3://else"),)}, "give spec.backup the same"),
        ({"users": {BUCKET: "old/shop"}}, "MultigresCluster old/shop uses the repository s3://backups/shop"),
        ({"password_secret": "shop-postgres-password"}, "Secret shop-postgres-password does not exist"),
        ({"claims": frozenset({"pgdata-main-1"})}, "volume claim pgdata-main-1 exists (1 in all)"),
        ({"shards": (ON_VOLUME,)}, "volume claim repo or repo-z1 of the repository does not exist"),
    ],
)
def test_nothing_is_created_while(fields: dict[str, Any], words: str) -> None:
    assert words in restore_problem(facts(**fields))


def test_claim_of_the_repository_is_enough_for_a_restore_from_volumes() -> None:
    assert restore_problem(facts(shards=(ON_VOLUME,), claims=frozenset({"repo-z1"}))) == ""


def listed(*times: str) -> RepositoryListing:
    return RepositoryListing(
        tuple(
            RepositoryBackup(
                backup_id=f"202608{time[:2]}-{time[3:5]}0000F",
                status="BACKUP_STATUS_COMPLETE",
                stop_timestamp=f"2026-08-{time}:00:00Z",
            )
            for time in times
        )
    )


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (("19T02", "20T02", "21T13"), "20260820-020000F"),
        (("21T13",), ""),
        ((), ""),
    ],
)
def test_shard_was_restored_from_the_newest_backup_before_it(times: tuple[str, ...], expected: str) -> None:
    assert restored_backup(listed(*times), NOON) == expected


@pytest.mark.parametrize(
    ("shards", "expected"),
    [
        ({"a": "1F", "b": "2F"}, ("True", reasons.RESTORED)),
        ({"a": "1F", "b": None}, ("False", reasons.RESTORING)),
        ({"a": None, "b": ""}, ("False", reasons.REPOSITORY_EMPTY)),
    ],
)
def test_cluster_is_restored_when_all_of_its_shards_are(
    shards: dict[str, str | None], expected: tuple[str, str]
) -> None:
    assert restore_outcome(shards)[:2] == expected


@pytest.mark.parametrize(
    ("cells", "spec", "expected"),
    [
        (("z1",), {}, [{ALL, Z1}]),
        (("z1", "z2"), {}, [{ALL, Z1, Z2}]),
        (("z1", "z2"), {"backup": OWN_CERTIFICATES}, [{Z1}, {Z2}]),
    ],
    ids=["one cell", "several cells", "a volume for each cell"],
)
def test_claims_that_a_restore_needs(
    cells: tuple[str, ...], spec: dict[str, Any], expected: list[set[str]]
) -> None:
    written = msgspec.convert({"cells": [{"zone": cell} for cell in cells], **spec}, MultigresClusterSpec)
    resolved = resolve(ClusterIdentity("ns", "shop"), written, Templates({}, {}, {}))
    [shard] = restored_shards(resolved)
    assert list(shard.repository_claims) == expected
