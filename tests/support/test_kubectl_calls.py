"""What is sent without kubectl leaves the server as kubectl would: the same objects, by the same managers."""

import json
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.support import kubectl_calls
from tests.support.kubectl import Kubectl

ASKED = [
    ("get", "ns", "default"),
    ("get", "sa,cm", "-n", "kube-system"),
    ("get", "serviceaccounts", "-n", "kube-system", "--field-selector=metadata.name=default"),
    ("get", "ClusterRole", "-l", "kubernetes.io/bootstrapping=rbac-defaults", "--show-managed-fields"),
]

WRITES = [
    ("annotate", "configmap", "NAME", "-n", "SPACE", "--overwrite", "told=a=b", "gone-"),
    ("patch", "cm", "NAME", "-n", "SPACE", "--type=merge", "-p", '{"data": {"a": "2"}}'),
    ("patch", "cm", "NAME", "-n", "SPACE", "-p", '{"data": {"b": "3"}}', "--field-manager=them"),
    ("patch", "cm", "NAME", "-n", "SPACE", "--type=json", "-p", '[{"op": "remove", "path": "/data/c"}]'),
]


@pytest.fixture
def kubectl(control_plane: ControlPlane) -> Kubectl:
    return Kubectl(control_plane.kubeconfig)


@pytest.mark.parametrize("args", ASKED)
def test_a_look_shows_what_kubectl_shows(kubectl: Kubectl, args: tuple[str, ...]) -> None:
    found = kubectl_calls.answered(kubectl.server, args)
    shown = json.loads(kubectl.outcome(*args, "-o", "json")[0])
    items = found.get("items", [found])
    assert [_told(item) for item in items] == [_told(item) for item in shown.get("items", [shown])]
    assert (found["apiVersion"], found["kind"]) == (shown["apiVersion"], shown["kind"])


def test_writes_leave_what_kubectl_leaves(kubectl: Kubectl, namespace: str) -> None:
    for name, send in (("ours", _without_kubectl), ("theirs", _with_kubectl)):
        send(kubectl, ("create", "-n", namespace, "-f", "-"), _config_map(name, a="1", c="4"))
        apply = ("apply", "--server-side", "--field-manager=user", "-n", namespace, "-f", "-")
        send(kubectl, apply, _config_map(name, d="5"))
        for write in WRITES:
            words = {"NAME": name, "SPACE": namespace}
            send(kubectl, tuple(words.get(word, word) for word in write), None)

    ours, theirs = (_look(kubectl, namespace, name) for name in ("ours", "theirs"))
    assert ours == theirs
    _without_kubectl(kubectl, ("delete", "configmap", "ours", "-n", namespace, "--wait=false"), None)
    assert "ours" not in kubectl("get", "configmaps", "-n", namespace, "-o", "name")


def test_what_is_refused_is_left_to_kubectl(kubectl: Kubectl, namespace: str) -> None:
    args = ("create", "-n", namespace, "-f", "-")
    assert kubectl_calls.answered(kubectl.server, args, {**_config_map("no", a="1"), "unknown": 1}) is None
    assert 'unknown field "unknown"' in kubectl.refused(
        *args, document={**_config_map("no", a="1"), "unknown": 1}
    )


def _config_map(name: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "annotations": {"gone": "soon"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _without_kubectl(kubectl: Kubectl, args: tuple[str, ...], document: Any) -> None:
    assert kubectl_calls.answered(kubectl.server, args, document) is True


def _with_kubectl(kubectl: Kubectl, args: tuple[str, ...], document: Any) -> None:
    assert kubectl.outcome(*args, document=document)[1] == ""


def _look(kubectl: Kubectl, namespace: str, name: str) -> Any:
    found = kubectl.json("get", "configmap", name, "-n", namespace, "--show-managed-fields")
    owned = [
        {key: value for key, value in each.items() if key != "time"}
        for each in found["metadata"]["managedFields"]
    ]
    owners = sorted(owned, key=lambda each: (each["manager"], each["operation"]))
    return found["data"], found["metadata"]["annotations"], owners


def _told(item: Any) -> Any:
    return item["kind"], item["metadata"]["name"], item["metadata"].get("managedFields")
