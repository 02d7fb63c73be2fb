"""Manifests are rewritten where server-side apply treats their notation badly."""

from typing import Any

import pytest

from steward.kube.apply.normalize import fold_string_data, without_empty_maps
from steward.kube.objects.kinds import Manifest

EMPTY: Manifest = {"labels": {}, "annotations": {}, "finalizers": [], "ownerReferences": []}


def config_map(metadata: Manifest, **fields: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}, **fields}


def cron_job(metadata: Manifest) -> Manifest:
    pods = {"template": {"metadata": dict(metadata), "spec": {"containers": []}}}
    jobs = {"jobTemplate": {"metadata": dict(metadata), "spec": pods}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "a", **metadata}, "spec": jobs}


def test_empty_metadata_is_left_out() -> None:
    assert without_empty_maps(config_map(EMPTY)) == config_map({})


def test_null_metadata_is_left_out() -> None:
    assert without_empty_maps(config_map(dict.fromkeys(EMPTY))) == config_map({})


def test_empty_data_is_left_out() -> None:
    assert without_empty_maps(config_map({}, data={}, binaryData={})) == config_map({})


def test_empty_metadata_of_pod_and_job_templates_is_left_out() -> None:
    assert without_empty_maps(cron_job(EMPTY)) == cron_job({})


def test_the_given_manifest_is_not_modified() -> None:
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
def test_everything_else_is_left_as_it_is(manifest: Manifest) -> None:
    assert without_empty_maps(manifest) is manifest


def test_string_data_is_encoded_into_data_and_takes_precedence() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {"a": "b2xk", "b": "a2VwdA=="},
        "stringData": {"a": "new", "c": "ü"},
    }

    assert fold_string_data(secret) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {"a": "bmV3", "b": "a2VwdA==", "c": "w7w="},
    }
    assert secret["stringData"] == {"a": "new", "c": "ü"}


def test_an_empty_string_data_becomes_empty_data() -> None:
    assert fold_string_data({"apiVersion": "v1", "kind": "Secret", "stringData": None}) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {},
    }


def test_string_data_of_other_kinds_is_left_as_it_is() -> None:
    thing = {"apiVersion": "example.com/v1", "kind": "Secret", "stringData": {"a": "b"}}

    assert fold_string_data(thing) is thing
