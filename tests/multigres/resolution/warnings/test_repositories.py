"""Warnings about the repository of a cluster that exists."""

from typing import Any

import msgspec

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.resolution.warnings.repositories import repository_warnings


def resolved(prefix: str, **spec: Any) -> ResolvedCluster:
    backup = {"type": "s3", "s3": {"bucket": "b", "region": "r", "keyPrefix": prefix}}
    typed = msgspec.convert({"cells": [{"zone": "z1"}], "backup": backup, **spec}, MultigresClusterSpec)
    return resolve(ClusterIdentity("ns", "shop"), typed, Templates({}, {}, {}))


def test_another_repository_gives_a_warning() -> None:
    [warning] = repository_warnings(resolved("one"), resolved("two"))
    assert "in s3://b/two neither WAL nor backups are stored; keep s3://b/one" in warning


def test_new_clusters_and_databases_give_none() -> None:
    databases = [{"name": "orders"}]
    assert list(repository_warnings(None, resolved("one"))) == []
    assert list(repository_warnings(resolved("one"), resolved("one", databases=databases))) == []
