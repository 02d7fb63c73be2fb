"""Defaults in the spec, and removal of earlier defaults."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.defaulting import with_defaults, without_stale_defaults
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from tests.multigres.support.typed_templates import templates

NONE = Templates({}, {}, {})
MINIMAL: dict[str, Any] = {"cells": [{"zone": "us-east-1a"}]}


def test_a_minimal_spec_gets_all_defaults() -> None:
    defaulted = with_defaults(MINIMAL, NONE)
    assert defaulted["cells"][0]["name"] == "us-east-1a"
    assert defaulted["cells"][0]["spec"]["multiGateway"]["replicas"] == 1
    assert defaulted["globalTopoServer"]["etcd"]["replicas"] == 3
    assert defaulted["multiadmin"]["spec"]["replicas"] == 1
    assert defaulted["pvcDeletionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    [database] = defaulted["databases"]
    assert (database["name"], database["default"]) == ("postgres", True)
    [shard] = database["tablegroups"][0]["shards"]
    assert shard["name"] == "0-inf"
    assert shard["spec"]["pools"]["default"]["type"] == "readWrite"


def test_a_defaulted_spec_resolves_to_the_same_cluster() -> None:
    def resolved(spec: dict[str, Any]) -> Any:
        found = resolve(ClusterIdentity("ns", "c"), msgspec.convert(spec, MultigresClusterSpec), NONE)
        return msgspec.to_builtins(found._replace(origins={}, groups={}))

    assert resolved(with_defaults(MINIMAL, NONE)) == resolved(MINIMAL)


@pytest.mark.parametrize("spec", [MINIMAL, {"cells": [{"zone": "a"}], "databases": [{"name": "x"}]}])
def test_defaulting_twice_changes_nothing(spec: dict[str, Any]) -> None:
    once = with_defaults(spec, NONE)
    assert with_defaults(without_stale_defaults(once), NONE) == once


def test_values_of_the_user_are_never_changed() -> None:
    spec = {"cells": [{"name": "n", "zone": "a", "spec": {"multiGateway": {"replicas": 7}}}]}
    assert with_defaults(spec, NONE)["cells"] == spec["cells"]
    assert spec == {"cells": [{"name": "n", "zone": "a", "spec": {"multiGateway": {"replicas": 7}}}]}


def test_fields_of_a_template_get_no_default() -> None:
    existing = templates(core={"default": {}}, cell={"default": {}}, shard={"default": {}})
    defaulted = with_defaults(MINIMAL, existing)
    assert "globalTopoServer" not in defaulted
    assert "spec" not in defaulted["cells"][0]
    assert "spec" not in defaulted["databases"][0]["tablegroups"][0]["shards"][0]
    assert set(defaulted["templateDefaults"].values()) == {"default"}


@pytest.mark.parametrize("choice", [{"templateRef": "t"}, {"external": {"endpoints": ["http://a"]}}])
def test_choosing_another_topology_server_removes_the_defaulted_one(
    choice: dict[str, Any],
) -> None:
    live = with_defaults(MINIMAL, NONE)
    live["globalTopoServer"] |= choice
    assert with_defaults(without_stale_defaults(live), NONE)["globalTopoServer"] == choice


def test_an_etcd_that_the_user_wrote_is_not_removed() -> None:
    spec = {"globalTopoServer": {"etcd": {"replicas": 5}, "templateRef": "t"}, **MINIMAL}
    assert without_stale_defaults(spec)["globalTopoServer"]["etcd"] == {"replicas": 5}


def test_choosing_a_template_removes_earlier_defaults() -> None:
    live = with_defaults(MINIMAL, NONE)
    live["templateDefaults"] = {"shardTemplate": "t", "cellTemplate": "t", "coreTemplate": "t"}
    after = with_defaults(without_stale_defaults(live), NONE)
    assert "spec" not in after["databases"][0]["tablegroups"][0]["shards"][0]
    assert "spec" not in after["cells"][0]
    assert "etcd" not in after["globalTopoServer"]


def test_a_database_named_postgres_becomes_the_default_one() -> None:
    spec = {**MINIMAL, "databases": [{"name": "app"}, {"name": "postgres"}]}
    assert [d.get("default") for d in with_defaults(spec, NONE)["databases"]] == [None, True]
