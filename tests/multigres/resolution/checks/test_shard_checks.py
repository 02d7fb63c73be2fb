"""Problems of one shard on its own, each at its field."""

from typing import Any

import msgspec

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.checks.shard_checks import ShardCheck, check_shards
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, SpecProblem, Templates

FIELD = "spec.databases[d].tablegroups[g].shards[s]"


def check(pool: dict[str, Any], **shard: Any) -> ShardCheck:
    entry = {"name": "s", "spec": {"pools": {"main": pool}, **shard}}
    groups = [{"name": "g", "default": True, "shards": [entry]}]
    databases = [{"name": "d", "default": True, "tablegroups": groups}]
    spec = msgspec.convert({"cells": [{"name": "z1"}], "databases": databases}, MultigresClusterSpec)
    [found] = check_shards(resolve(ClusterIdentity("ns", "c"), spec, Templates({}, {}, {})))
    return found.value


def test_a_shard_that_names_only_its_pool_has_no_problem() -> None:
    assert check({})[:4] == ((), (), (), ())


def test_a_volume_that_may_grow_to_less_than_its_size_is_a_problem() -> None:
    storage = {"size": "10Gi", "autogrow": {"max": "5Gi"}}
    problem = SpecProblem(f"{FIELD}.pools[main].storage.autogrow", "max 5Gi is below the size 10Gi")
    assert check({"storage": storage}).growth == (problem,)


def test_an_empty_volume_is_a_problem() -> None:
    [problem] = check({"storage": {"size": "0"}}).volumes
    assert problem.field == f"{FIELD}.pools[main].storage.size"


def test_resources_of_pooler_and_orchestrator_are_checked() -> None:
    negative = {"requests": {"cpu": "-1"}}
    found = check({"multipooler": negative}, multiorch={"resources": negative}).resources
    assert [problem.field for problem in found] == [
        f"{FIELD}.multiorch.resources.requests.cpu",
        f"{FIELD}.pools[main].multipooler.requests.cpu",
    ]
