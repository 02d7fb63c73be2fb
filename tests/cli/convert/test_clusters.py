"""Clusters and templates in the spelling of the Go operator."""

from typing import Any

import msgspec
import pytest

from steward.cli.convert.conversion import convert
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec

API_VERSION = "multigres.com/v1alpha1"
TOLERATIONS = [{"key": "database", "operator": "Exists"}]
COMPUTE = {"requests": {"cpu": "1"}, "limits": {"memory": "2Gi"}}
RETAIN = {"pvcDeletionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}}
SPECS: dict[str, type[Any]] = {
    "MultigresCluster": MultigresClusterSpec,
    "CoreTemplate": CoreTemplateSpec,
    "CellTemplate": CellTemplateSpec,
    "ShardTemplate": ShardTemplateSpec,
}


def converted(spec: dict[str, Any], kind: str = "MultigresCluster") -> tuple[dict[str, Any], list[str]]:
    """The spec, which must be valid, and the notes as `effect field`."""
    manifest = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": "shop"}, "spec": spec}
    result = convert(manifest)
    written = result.manifests[-1]["spec"]
    msgspec.convert(written, SPECS[kind])
    return written, [f"{note.effect} {note.field}" for note in result.notes]


def one_shard(**shard: Any) -> dict[str, Any]:
    group = {"name": "default", "default": True, "shards": [{"name": "0-inf", **shard}]}
    return {"databases": [{"name": "postgres", "default": True, "tablegroups": [group]}], **RETAIN}


def shard_of(spec: dict[str, Any]) -> dict[str, Any]:
    shard: dict[str, Any] = spec["databases"][0]["tablegroups"][0]["shards"][0]
    return shard


SHARD = "spec.databases[postgres].tablegroups[default].shards[0-inf]"


def test_a_cell_gets_its_zone_and_its_gateway() -> None:
    buffer = {"enabled": True, "window": "10s", "drainConcurrency": 4}
    cells = [
        {"name": "z1", "zoneId": "use1-az1", "spec": {"multigateway": {"replicas": 2, "buffer": buffer}}},
        {"name": "z2", "region": "eu", "cellTemplate": "t", "overrides": {"multigateway": {"replicas": 3}}},
    ]
    spec, notes = converted({"cells": cells, **RETAIN})
    assert spec["cells"] == [
        {
            "name": "z1",
            "spec": {"multiGateway": {"replicas": 2, "buffering": {"enabled": True, "window": "10s"}}},
            "zone": "use1-az1",
        },
        {"name": "z2", "region": "eu", "cellTemplate": "t", "overrides": {"multiGateway": {"replicas": 3}}},
    ]
    assert notes == [
        "check spec.cells[z1].zoneId",
        "lost spec.cells[z1].spec.multiGateway.buffering.drainConcurrency",
    ]


def test_the_placement_of_components_becomes_their_tolerations() -> None:
    placement = {"tolerations": TOLERATIONS}
    spec, notes = converted(
        {
            "cells": [
                {"name": "z1", "region": "eu", "spec": {}, "multigatewayPlacement": placement},
                {"name": "z2", "region": "us", "cellTemplate": "t", "multigatewayPlacement": placement},
            ],
            "multiadmin": {"spec": {"replicas": 1}, "placement": placement},
            "multiadminWeb": {"templateRef": "core", "placement": placement},
            "globalTopoServer": {"etcd": {"replicas": 3}, "placement": placement},
            **one_shard(spec={"multiorch": {"placement": placement}}),
        }
    )
    assert spec["cells"][0]["spec"] == {"multiGateway": {"tolerations": TOLERATIONS}}
    assert spec["cells"][1]["overrides"] == {"multiGateway": {"tolerations": TOLERATIONS}}
    assert spec["multiadmin"] == {"spec": {"replicas": 1, "tolerations": TOLERATIONS}}
    assert shard_of(spec)["spec"]["multiorch"] == {"tolerations": TOLERATIONS}
    assert notes == ["lost spec.globalTopoServer.placement", "lost spec.multiadminWeb.placement"]


def test_resources_of_a_pools_containers_are_directly_below_them() -> None:
    pool = {
        "cells": ["z1"],
        "postgres": {"resources": COMPUTE, "runAsUser": 26},
        "multipooler": {"resources": COMPUTE},
        "fsGroup": 26,
    }
    spec, notes = converted(one_shard(spec={"pools": {"main": pool}}))
    assert shard_of(spec)["spec"]["pools"]["main"] == {
        "cells": ["z1"],
        "postgres": COMPUTE,
        "multipooler": COMPUTE,
    }
    assert notes == [
        f"lost {SHARD}.spec.pools[main].postgres.runAsUser",
        f"lost {SHARD}.spec.pools[main].fsGroup",
    ]


def test_postgres_settings_become_a_config_map_of_the_same_namespace() -> None:
    settings = {"max_connections": 100, "jit": False, "search_path": "it's, \\x"}
    manifest = {
        "apiVersion": API_VERSION,
        "kind": "MultigresCluster",
        "metadata": {"name": "shop", "namespace": "prod"},
        "spec": one_shard(overrides={"postgresConfig": settings}),
    }
    config_map, cluster = convert(manifest).manifests
    reference = shard_of(cluster["spec"])["overrides"]["postgresConfigRef"]
    assert config_map["metadata"] == {"name": reference["name"], "namespace": "prod"}
    assert reference == {"name": "shop-postgres-default-0-inf-postgres-config", "key": "postgresql.conf"}
    assert config_map["data"]["postgresql.conf"] == (
        "jit = 'false'\nmax_connections = '100'\nsearch_path = 'it''s, \\\\x'\n"
    )


def test_settings_beside_a_reference_are_lost() -> None:
    both = {"postgresConfig": {"jit": "off"}, "postgresConfigRef": {"name": "mine", "key": "conf"}}
    spec, notes = converted(one_shard(spec=both))
    assert shard_of(spec)["spec"] == {"postgresConfigRef": {"name": "mine", "key": "conf"}}
    assert notes == [f"lost {SHARD}.spec.postgresConfig"]


@pytest.mark.parametrize(
    ("old", "new", "noted"),
    [
        ({"topologyPruning": {"enabled": False}}, {"topologyReconciliation": {"pruneTablets": False}}, []),
        (
            {"imageUpdatePolicy": {"strategy": "lazy", "acknowledgedRevision": "abc"}},
            {"updatePolicy": {"templateChanges": "Manual"}},
            ["check spec.imageUpdatePolicy", "lost spec.imageUpdatePolicy.acknowledgedRevision"],
        ),
        ({"imageUpdatePolicy": {"strategy": "immediate"}}, {}, []),
        ({"postgresSuperuser": "postgres"}, {}, []),
        ({"postgresSuperuser": "root"}, {}, ["lost spec.postgresSuperuser"]),
        ({"internalTLS": {"enabled": False}}, {}, []),
        ({"internalTLS": {"enabled": True}}, {}, ["lost spec.internalTLS"]),
        ({"certCommonName": "db.example.com"}, {}, ["lost spec.certCommonName"]),
        ({"externalAdminWeb": {"enabled": True}}, {}, ["lost spec.externalAdminWeb"]),
        (
            {"globalTopoServer": {"external": {"endpoints": ["http://e:2379"], "implementation": "etcd"}}},
            {"globalTopoServer": {"external": {"endpoints": ["http://e:2379"]}}},
            [],
        ),
        (
            {
                "backup": {
                    "type": "s3",
                    "s3": {"bucket": "b", "region": "r"},
                    "encryption": {"secretName": "s"},
                }
            },
            {
                "backup": {
                    "type": "s3",
                    "s3": {"bucket": "b", "region": "r"},
                    "encryption": {"secretName": "s"},
                }
            },
            [],
        ),
    ],
)
def test_settings_of_the_cluster(old: dict[str, Any], new: dict[str, Any], noted: list[str]) -> None:
    spec, notes = converted({**RETAIN, **old})
    assert spec == {**RETAIN, **new}
    assert notes == noted


def test_a_missing_volume_policy_is_worth_a_check() -> None:
    assert converted({})[1] == ["check spec.pvcDeletionPolicy"]


def test_a_core_template_nests_multiadmin() -> None:
    flat = {"replicas": 2, "placement": {"tolerations": TOLERATIONS}}
    spec, notes = converted({"multiadmin": flat, "multiadminWeb": {"spec": {"replicas": 1}}}, "CoreTemplate")
    assert spec == {
        "multiadmin": {"spec": {"replicas": 2, "tolerations": TOLERATIONS}},
        "multiadminWeb": {"spec": {"replicas": 1}},
    }
    assert notes == []


def test_a_cell_template_and_a_shard_template() -> None:
    old = {"multigateway": {"replicas": 2}, "multigatewayPlacement": {"tolerations": TOLERATIONS}}
    assert converted(old, "CellTemplate") == (
        {"multiGateway": {"replicas": 2, "tolerations": TOLERATIONS}},
        [],
    )
    pools = {"main": {"postgres": {"resources": COMPUTE}}}
    assert converted({"pools": pools}, "ShardTemplate") == ({"pools": {"main": {"postgres": COMPUTE}}}, [])


def test_the_old_spelling_does_not_replace_the_new_one() -> None:
    cell = {"name": "a", "zone": "z1", "zoneId": "use1-az1"}
    spec, notes = converted({"cells": [cell], **RETAIN})
    assert spec["cells"] == [{"name": "a", "zone": "z1"}]
    assert "lost spec.cells[a].zoneId" in notes


def test_a_second_conversion_changes_nothing() -> None:
    once, _ = converted({"cells": [{"name": "z1", "zoneId": "z", "spec": {"multigateway": {}}}], **RETAIN})
    assert converted(once) == (once, [])


@pytest.mark.parametrize(
    "spec",
    [
        {"cells": "none"},
        {"cells": ["z1"]},
        {"databases": [{"tablegroups": {}}]},
        {"cells": [{"spec": []}]},
        {"multiadmin": 1},
    ],
)
def test_malformed_input_is_left_for_validation(spec: dict[str, Any]) -> None:
    manifest = {"apiVersion": API_VERSION, "kind": "MultigresCluster", "spec": spec}
    assert convert(manifest).manifests[-1]["spec"] == spec
