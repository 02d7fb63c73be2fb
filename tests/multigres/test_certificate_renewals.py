"""The first certificate of a backup service restarts nothing, each later one replaces the servers."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.shard import ShardSpec, ShardStatus
from steward.multigres.controllers.certificates import noted
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import Owner
from steward.multigres.objects.pool import RENEWALS_ANNOTATION, pool_objects
from steward.multigres.objects.shards import ShardBuild
from tests.multigres.tree import build_tree, of_kind


@pytest.mark.parametrize(
    ("before", "digest", "after"),
    [
        ({}, "", {}),
        ({}, "one", {"backupCertificate": "one", "backupCertificateRenewals": 0}),
        (
            {"backupCertificate": "one", "backupCertificateRenewals": 0},
            "one",
            {"backupCertificate": "one", "backupCertificateRenewals": 0},
        ),
        (
            {"backupCertificate": "one", "backupCertificateRenewals": 1},
            "two",
            {"backupCertificate": "two", "backupCertificateRenewals": 2},
        ),
        (
            {"backupCertificate": "one", "backupCertificateRenewals": 1},
            "",
            {"backupCertificate": "one", "backupCertificateRenewals": 1},
        ),
    ],
)
def test_a_change_is_counted_and_a_gap_is_none(
    before: dict[str, Any], digest: str, after: dict[str, Any]
) -> None:
    assert noted(msgspec.convert(before, ShardStatus), digest) == after


@pytest.mark.parametrize(("renewals", "shown"), [(0, None), (2, "2")])
def test_pods_are_replaced_when_the_count_moves(renewals: int, shown: str | None) -> None:
    [shard] = [child for child in build_tree() if child["kind"] == "Shard"]
    spec = msgspec.convert(shard["spec"], ShardSpec)
    owner, path = Owner("Shard", "example", "x", "uid"), ShardPath("mini", "postgres", "default", "0-inf")
    build = ShardBuild(owner, path, spec, "pw", "password", "tls", certificate_renewals=renewals)
    for servers in of_kind(pool_objects(build), "StatefulSet"):
        assert servers["spec"]["template"]["metadata"]["annotations"].get(RENEWALS_ANNOTATION) == shown
