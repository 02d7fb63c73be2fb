"""The health script for Argo CD, run by a Lua interpreter on statuses that the operators wrote in `steward up`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lupa import LuaRuntime

from steward.install.argocd import argocd_health, health_script
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml

RECORDED = json.loads((ROOT / "tests/install/data/statuses.json").read_text())
EXPECTED = {
    ("MultigresCluster", "db-acme"): ("Healthy", "everything is ready"),
    ("MultigresCluster", "unfinished"): (
        "Degraded",
        "references: spec.globalTopoServer.etcd.storage: StorageClass",
    ),
    ("TenantRegistry", "customers"): ("Suspended", "24 Tenants are not deleted: the table has no rows"),
    ("TenantTemplate", "database"): ("Healthy", "all 12 Tenants are ready"),
    ("Tenant", "acme-database"): ("Healthy", "all 1 resources are ready"),
    ("Shard", "db-acme-postgres-default-0-inf-3bb143f0"): ("Healthy", "everything is ready"),
    ("Shard", "unfinished-postgres-default-0-inf-bc665070"): (
        "Progressing",
        "waiting for servers: 0 of 3 ready",
    ),
}


def health(manifest: dict[str, Any]) -> tuple[str, str]:
    lua = LuaRuntime()
    result = lua.eval(f"function(obj) {health_script()} end")(lua.table_from(manifest, recursive=True))
    return result["status"], result["message"]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda each: f"{each['kind']} {each['metadata']['name']}")
def test_the_health_of_a_recorded_status_is_that_of_its_conditions(recorded: dict[str, Any]) -> None:
    status, message = health(recorded)
    expected = EXPECTED[recorded["kind"], recorded["metadata"]["name"]]
    assert (status, message[: len(expected[1])]) == expected


def condition(name: str, status: str) -> dict[str, str]:
    return {"type": name, "status": status, "message": f"about {name}"}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, ("Progressing", "the operator has not seen it yet")),
        (
            {"observedGeneration": 1, "conditions": [condition("Ready", "True")]},
            ("Progressing", "the operator has not seen the latest change yet"),
        ),
        (
            {"conditions": [condition("Reconciling", "True"), condition("Stalled", "True")]},
            ("Degraded", "about Stalled"),
        ),
        (
            {"conditions": [condition("Ready", "True"), condition("Reconciling", "True")]},
            ("Progressing", "about Reconciling"),
        ),
        ({"conditions": [condition("Ready", "False")]}, ("Progressing", "about Ready")),
    ],
)
def test_the_worst_condition_decides(status: dict[str, Any], expected: tuple[str, str]) -> None:
    assert health({"metadata": {"generation": 2}, "status": status}) == expected


def test_every_kind_with_a_status_has_the_script() -> None:
    data = load_yaml(argocd_health())["data"]
    assert {name.removeprefix("resource.customizations.health.") for name in data} == {
        *(
            f"multigres.com_{kind}"
            for kind in ("MultigresCluster", "TopoServer", "Cell", "TableGroup", "Shard", "MultigresBackup")
        ),
        *(
            f"operator.kubernetes-tenants.org_{kind}"
            for kind in ("TenantRegistry", "TenantTemplate", "Tenant")
        ),
    }
    assert set(data.values()) == {health_script()}
