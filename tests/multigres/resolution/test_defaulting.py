"""What `kubectl get -o yaml` shows after an apply, and what is taken back."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.defaulting import taken_back, with_defaults
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, Templates
from tests.multigres.resolution.test_resolve import templates

NONE = Templates({}, {}, {})
MINIMAL: dict[str, Any] = {"cells": [{"zone": "us-east-1a"}]}


def test_three_lines_show_everything_that_holds() -> None:
    written = with_defaults(MINIMAL, NONE)
    assert written["cells"][0]["name"] == "us-east-1a"
    assert written["cells"][0]["spec"]["multiGateway"]["replicas"] == 1
    assert written["globalTopoServer"]["etcd"]["replicas"] == 3
    assert written["multiadmin"]["spec"]["replicas"] == 1
    assert written["pvcDeletionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    [database] = written["databases"]
    assert (database["name"], database["default"]) == ("postgres", True)
    [shard] = database["tablegroups"][0]["shards"]
    assert shard["name"] == "0-inf"
    assert shard["spec"]["pools"]["default"]["type"] == "readWrite"


def test_what_was_written_out_resolves_to_what_held_before() -> None:
    def resolved(spec: dict[str, Any]) -> Any:
        found = resolve(Identity("ns", "c"), msgspec.convert(spec, MultigresClusterSpec), NONE)
        return msgspec.to_builtins(found._replace(origins={}))

    assert resolved(with_defaults(MINIMAL, NONE)) == resolved(MINIMAL)


@pytest.mark.parametrize("spec", [MINIMAL, {"cells": [{"zone": "a"}], "databases": [{"name": "x"}]}])
def test_defaulting_twice_changes_nothing(spec: dict[str, Any]) -> None:
    once = with_defaults(spec, NONE)
    assert with_defaults(taken_back(once), NONE) == once


def test_what_the_user_wrote_is_never_changed() -> None:
    own = {"cells": [{"name": "n", "zone": "a", "spec": {"multiGateway": {"replicas": 7}}}]}
    assert with_defaults(own, NONE)["cells"] == own["cells"]
    assert own == {"cells": [{"name": "n", "zone": "a", "spec": {"multiGateway": {"replicas": 7}}}]}


def test_what_a_template_provides_is_not_written_out() -> None:
    known = templates(core={"default": {}}, cell={"default": {}}, shard={"default": {}})
    written = with_defaults(MINIMAL, known)
    assert "globalTopoServer" not in written
    assert "spec" not in written["cells"][0]
    assert "spec" not in written["databases"][0]["tablegroups"][0]["shards"][0]
    assert set(written["templateDefaults"].values()) == {"default"}


@pytest.mark.parametrize("choice", [{"templateRef": "t"}, {"external": {"endpoints": ["http://a"]}}])
def test_a_later_choice_of_another_topology_server_takes_the_written_out_one_back(
    choice: dict[str, Any],
) -> None:
    live = with_defaults(MINIMAL, NONE)
    live["globalTopoServer"] |= choice
    assert with_defaults(taken_back(live), NONE)["globalTopoServer"] == choice


def test_an_etcd_that_the_user_wrote_is_not_taken_back() -> None:
    spec = {"globalTopoServer": {"etcd": {"replicas": 5}, "templateRef": "t"}, **MINIMAL}
    assert taken_back(spec)["globalTopoServer"]["etcd"] == {"replicas": 5}


def test_a_template_chosen_later_rules_what_was_written_out_before() -> None:
    live = with_defaults(MINIMAL, NONE)
    live["templateDefaults"] = {"shardTemplate": "t", "cellTemplate": "t", "coreTemplate": "t"}
    after = with_defaults(taken_back(live), NONE)
    assert "spec" not in after["databases"][0]["tablegroups"][0]["shards"][0]
    assert "spec" not in after["cells"][0]
    assert "etcd" not in after["globalTopoServer"]


def test_a_database_of_the_usual_name_becomes_the_default_one() -> None:
    spec = {**MINIMAL, "databases": [{"name": "app"}, {"name": "postgres"}]}
    assert [d.get("default") for d in with_defaults(spec, NONE)["databases"]] == [None, True]
