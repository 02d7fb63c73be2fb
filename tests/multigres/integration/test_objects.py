"""The objects of a cluster are accepted by a real API server that enforces Pod Security `restricted`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.kube.crd.schema import definition
from steward.kube.objects.kinds import Manifest
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.multigres.support.clusters import small_cluster
from tests.multigres.support.served_namespaces import new_namespaces
from tests.multigres.support.tree import build_tree
from tests.multigres.support.waiting import eventually
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml

SEEDS = sorted((ROOT / "tests" / "multigres" / "seeds").glob("*.yaml"))
WAYS = ("apply", "apply --server-side", "create")


@pytest.fixture(scope="module")
def homes(api_server: ApiServer) -> Iterator[dict[str, str]]:
    """A namespace for each way of creating objects."""
    with new_namespaces(api_server, len(WAYS)) as found:
        yield dict(zip(WAYS, found, strict=True))


@pytest.mark.parametrize("custom", CUSTOM_KINDS, ids=lambda custom: custom.kind)
def test_a_definition_fits_into_the_annotation_of_client_side_apply(custom: object) -> None:
    assert len(json.dumps(definition(custom))) < 250_000  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.stem)
@pytest.mark.parametrize("how", WAYS)
def test_every_manifest_of_the_design_is_accepted(
    kubectl: Kubectl, homes: dict[str, str], seed: Path, how: str
) -> None:
    manifest = load_yaml(seed.read_text())
    manifest["metadata"]["namespace"] = homes[how]
    # The manifests have no owner uids, which the API server requires.
    manifest["metadata"].pop("ownerReferences", None)
    kubectl(*how.split(), "-f", "-", document=manifest)


@pytest.mark.parametrize(
    ("kind", "section", "home"),
    [
        ("CellTemplate", "multiadmin", "CoreTemplate"),
        ("CoreTemplate", "pools", "ShardTemplate"),
        ("ShardTemplate", "multiGateway", "CellTemplate"),
    ],
)
def test_a_template_with_the_section_of_another_kind_is_rejected_even_without_strict_validation(
    kubectl: Kubectl, long_namespace: str, kind: str, section: str, home: str
) -> None:
    manifest = {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": kind,
        "metadata": {"name": "wrong", "namespace": long_namespace},
        "spec": {section: {}},
    }
    assert f"{section} belongs into a {home}" in kubectl.expect_rejection(
        "create", "--validate=false", "-f", "-", document=manifest
    )


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"cells": []}, "give at least one cell"),
        ({"cells": [{"zone": "a", "region": "b"}]}, "give either zone or region, not both"),
        ({"cells": [{"zone": "a", "spec": {}, "cellTemplate": "t"}]}, "spec describes the whole cell"),
        (
            {"cells": [{"zone": "a"}], "globalTopoServer": {"etcd": {}, "templateRef": "t"}},
            "give at most one of etcd, external and templateRef",
        ),
        (
            {"cells": [{"zone": "a"}], "multiadmin": {"spec": {}, "templateRef": "t"}},
            "give either spec or templateRef",
        ),
        (
            {
                "cells": [{"zone": "a"}],
                "databases": [{"name": "a", "default": True}, {"name": "b", "default": True}],
            },
            "at most one database is the default one",
        ),
        ({"cells": [{"zone": "a"}], "backup": {"type": "s3"}}, "type s3 needs the s3 block"),
        ({"cells": [{"zone": "a"}], "updatePolicy": {"templateChanges": "Window"}}, "needs a window"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_schema_rules_reject_with_a_message(
    kubectl: Kubectl, long_namespace: str, spec: object, sentence: str
) -> None:
    manifest = {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "wrong", "namespace": long_namespace},
        "spec": spec,
    }
    assert sentence in kubectl.expect_rejection("create", "-f", "-", document=manifest)


def is_running(workload: Manifest) -> bool:
    found = workload.get("status", {})
    if workload["kind"] == "Deployment":
        conditions = {each["type"]: each["status"] for each in found.get("conditions", ())}
        return conditions.get("Available") == "True"
    return bool(found.get("readyReplicas") == workload["spec"]["replicas"])


def test_a_whole_cluster_runs_in_a_restricted_namespace_and_a_second_apply_changes_nothing(
    kubectl: Kubectl, namespace: str
) -> None:
    kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    items = build_tree(namespace, **small_cluster(namespace, "mini")["spec"])
    for item in items:
        # The parents of these objects do not exist here, and the garbage collector is real.
        item["metadata"].pop("ownerReferences", None)
    tree = {"apiVersion": "v1", "kind": "List", "items": items}
    apply = ("apply", "--server-side", "-f", "-", "-o", "json")
    first = json.loads(kubectl(*apply, document=tree))["items"]
    workloads = [i for i in items if i["kind"] in ("Deployment", "StatefulSet")]
    for item in workloads:
        name = (item["kind"].lower(), item["metadata"]["name"])
        eventually(
            lambda name=name: is_running(kubectl.json("get", *name, "-n", namespace)), f"{name} to run"
        )
    second = json.loads(kubectl(*apply, document=tree))["items"]
    assert [i["metadata"].get("generation") for i in second] == [
        i["metadata"].get("generation") for i in first
    ]
