"""The fields of an object that a manager owns, from managedFields."""

from typing import Any

from bench.measuring.projection import written_by

SERVICE: dict[str, Any] = {
    "metadata": {
        "name": "web",
        "uid": "u",
        "labels": {"app": "web", "theirs": "x"},
        "finalizers": ["ours", "theirs"],
        "managedFields": [
            {
                "manager": "us",
                "operation": "Apply",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {"f:app": {}}, "f:finalizers": {'v:"ours"': {}}},
                    "f:spec": {
                        "f:selector": {},
                        "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:name": {}}},
                    },
                },
            },
            {
                "manager": "us",
                "operation": "Apply",
                "subresource": "status",
                "fieldsV1": {"f:status": {"f:phase": {}}},
            },
            {"manager": "us", "operation": "Update", "fieldsV1": {"f:spec": {"f:clusterIP": {}}}},
        ],
    },
    "spec": {
        "clusterIP": "10.0.0.1",
        "selector": {"app": "web"},
        "ports": [
            {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": 30000},
            {"name": "theirs", "port": 90, "protocol": "TCP"},
        ],
    },
    "status": {"phase": "Fine", "theirs": True},
}


def test_only_fields_items_and_values_of_the_manager_are_extracted():
    assert written_by("us", SERVICE) == {
        "metadata": {"labels": {"app": "web"}, "finalizers": ["ours"]},
        "spec": {
            "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
        },
    }


def test_the_status_is_separate():
    assert written_by("us", SERVICE, "status") == {"status": {"phase": "Fine"}}


def test_fields_that_were_created_without_apply_count():
    entry = {"manager": "us", "operation": "Update", "fieldsV1": {"f:data": {"f:a": {}}}}
    secret = {"metadata": {"managedFields": [entry]}, "data": {"a": "1", "b": "2"}}

    assert written_by("us", secret) == {"data": {"a": "1"}}


def test_an_unknown_manager_owns_nothing():
    assert written_by("them", SERVICE) is None
