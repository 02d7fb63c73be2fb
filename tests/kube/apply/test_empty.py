from typing import Any

import pytest

from steward.kube.apply.empty import without_empty_maps
from steward.kube.objects.kinds import Manifest

EMPTY: Manifest = {"labels": {}, "annotations": {}, "finalizers": [], "ownerReferences": []}


def config_map(metadata: Manifest, **fields: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}, **fields}


def cron_job(metadata: Manifest) -> Manifest:
    pods = {"template": {"metadata": dict(metadata), "spec": {"containers": []}}}
    jobs = {"jobTemplate": {"metadata": dict(metadata), "spec": pods}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "a", **metadata}, "spec": jobs}


def test_empty_metadata_says_nothing() -> None:
    assert without_empty_maps(config_map(EMPTY)) == config_map({})


def test_null_says_as_little() -> None:
    assert without_empty_maps(config_map(dict.fromkeys(EMPTY))) == config_map({})


def test_data_of_no_entries_says_nothing() -> None:
    assert without_empty_maps(config_map({}, data={}, binaryData={})) == config_map({})


def test_what_a_workload_makes_has_metadata_too() -> None:
    assert without_empty_maps(cron_job(EMPTY)) == cron_job({})


def test_the_manifest_given_stays_as_it_is() -> None:
    given = config_map({"labels": {}})

    without_empty_maps(given)

    assert given == config_map({"labels": {}})


@pytest.mark.parametrize(
    "manifest",
    [
        config_map({"labels": {"a": "b"}}, data={"a": ""}),
        cron_job({"annotations": {"a": "b"}}),
        {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": {}}},
        {"apiVersion": "example.com/v1", "kind": "Thing", "spec": {"template": {"metadata": EMPTY}}},
        {"apiVersion": "example.com/v1", "kind": "Thing", "data": {}, "spec": None},
    ],
)
def test_everything_else_is_sent_as_it_is(manifest: Manifest) -> None:
    assert without_empty_maps(manifest) is manifest
