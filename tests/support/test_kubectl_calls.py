"""Direct calls have the same effect as kubectl: the same objects with the same field managers."""

import json
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.support import kubectl_calls
from tests.support.kubectl import Kubectl
from tests.support.kubectl_apply import LAST_APPLIED

GETS = [
    ("get", "ns", "default"),
    ("get", "sa,cm", "-n", "kube-system"),
    ("get", "serviceaccounts", "-n", "kube-system", "--field-selector=metadata.name=default"),
    ("get", "ClusterRole", "-l", "kubernetes.io/bootstrapping=rbac-defaults", "--show-managed-fields"),
]

WRITES = [
    ("annotate", "configmap", "NAME", "-n", "SPACE", "--overwrite", "set=a=b", "removed-"),
    ("patch", "cm", "NAME", "-n", "SPACE", "--type=merge", "-p", '{"data": {"a": "2"}}'),
    ("patch", "cm", "NAME", "-n", "SPACE", "-p", '{"data": {"b": "3"}}', "--field-manager=them"),
    ("patch", "cm", "NAME", "-n", "SPACE", "--type=json", "-p", '[{"op": "remove", "path": "/data/c"}]'),
]


@pytest.fixture
def kubectl(control_plane: ControlPlane) -> Kubectl:
    return Kubectl(control_plane.kubeconfig)


@pytest.mark.parametrize("args", GETS)
def test_a_get_returns_what_kubectl_prints(kubectl: Kubectl, args: tuple[str, ...]) -> None:
    found = kubectl_calls.try_direct_call(kubectl.server, args)
    printed = json.loads(kubectl.run(*args, "-o", "json")[0])
    items = found.get("items", [found])
    assert [_compared_fields(item) for item in items] == [
        _compared_fields(item) for item in printed.get("items", [printed])
    ]
    assert (found["apiVersion"], found["kind"]) == (printed["apiVersion"], printed["kind"])


def test_writes_have_the_same_effect_as_kubectl(kubectl: Kubectl, namespace: str) -> None:
    for name, send in (("ours", _without_kubectl), ("theirs", _with_kubectl)):
        send(kubectl, ("create", "-n", namespace, "-f", "-"), _config_map(name, a="1", c="4"))
        apply = ("apply", "--server-side", "--field-manager=user", "-n", namespace, "-f", "-")
        send(kubectl, apply, _config_map(name, d="5"))
        for write in WRITES:
            words = {"NAME": name, "SPACE": namespace}
            send(kubectl, tuple(words.get(word, word) for word in write), None)

    ours, theirs = (_written_state(kubectl, namespace, name) for name in ("ours", "theirs"))
    assert ours == theirs
    _without_kubectl(kubectl, ("delete", "configmap", "ours", "-n", namespace, "--wait=false"), None)
    assert "ours" not in kubectl("get", "configmaps", "-n", namespace, "-o", "name")


def test_an_account_that_is_created_by_name_has_the_same_fields_as_by_kubectl(
    kubectl: Kubectl, namespace: str
) -> None:
    for name, send in (("ours", _without_kubectl), ("theirs", _with_kubectl)):
        send(kubectl, ("create", "serviceaccount", name, "-n", namespace), None)
    where = ("-n", namespace, "--show-managed-fields")
    ours, theirs = (kubectl.json("get", "sa", name, *where) for name in ("ours", "theirs"))
    assert ours["metadata"].keys() == theirs["metadata"].keys()
    assert ours.keys() == theirs.keys()


def test_a_rejected_call_is_left_to_kubectl(kubectl: Kubectl, namespace: str) -> None:
    args = ("create", "-n", namespace, "-f", "-")
    assert (
        kubectl_calls.try_direct_call(kubectl.server, args, {**_config_map("no", a="1"), "unknown": 1})
        is None
    )
    assert 'unknown field "unknown"' in kubectl.expect_rejection(
        *args, document={**_config_map("no", a="1"), "unknown": 1}
    )


def test_an_object_that_is_applied_first_has_the_same_fields_as_by_kubectl(
    kubectl: Kubectl, namespace: str
) -> None:
    for name, send in (("ours", _without_kubectl), ("theirs", _with_kubectl)):
        send(kubectl, ("apply", "-n", namespace, "-f", "-"), _config_map(name, a="<1> & ü"))

    (data, ours, owners), (_, theirs, theirs_owners) = (
        _written_state(kubectl, namespace, name) for name in ("ours", "theirs")
    )
    assert data == {"a": "<1> & ü"}
    assert ours[LAST_APPLIED].replace('"ours"', '"theirs"') == theirs[LAST_APPLIED]
    assert owners == theirs_owners


def test_an_object_that_is_applied_again_is_not_written(kubectl: Kubectl, namespace: str) -> None:
    apply = ("apply", "-n", namespace, "-f", "-")
    _with_kubectl(kubectl, apply, _config_map("same", a="1"))
    before = kubectl.json("get", "configmap", "same", "-n", namespace)
    _without_kubectl(kubectl, apply, _config_map("same", a="1"))
    assert kubectl.json("get", "configmap", "same", "-n", namespace) == before


def test_a_changed_object_is_applied_by_kubectl(kubectl: Kubectl, namespace: str) -> None:
    apply = ("apply", "-n", namespace, "-f", "-")
    _without_kubectl(kubectl, apply, _config_map("changed", a="1", b="2"))
    changed = _config_map("changed", a="1")
    assert kubectl_calls.try_direct_call(kubectl.server, apply, changed) is None
    kubectl(*apply, document=changed)
    assert kubectl.json("get", "configmap", "changed", "-n", namespace)["data"] == {"a": "1"}


def test_a_deletion_waits_until_the_object_is_gone(kubectl: Kubectl, namespace: str) -> None:
    _with_kubectl(kubectl, ("apply", "-n", namespace, "-f", "-"), _config_map("old"))
    _without_kubectl(kubectl, ("delete", "configmap/old", "-n", namespace), None)
    assert (
        kubectl.json("get", "configmaps", "-n", namespace, "--field-selector=metadata.name=old")["items"]
        == []
    )
    ignored = ("delete", "configmap", "old", "-n", namespace, "--ignore-not-found")
    _without_kubectl(kubectl, ignored, None)
    assert kubectl_calls.try_direct_call(kubectl.server, ignored[:-1]) is None


def test_a_wait_ends_when_the_condition_is_true(kubectl: Kubectl) -> None:
    [node, *_] = kubectl.json("get", "nodes")["items"]
    ready = ("wait", "node", node["metadata"]["name"], "--for=condition=Ready", "--timeout=60s")
    _without_kubectl(kubectl, ready, None)
    _without_kubectl(kubectl, ("wait", "--for=create", "namespace/default"), None)
    _without_kubectl(kubectl, ("wait", "--for=delete", "configmap/none", "-n", "default"), None)


def _config_map(name: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "annotations": {"removed": "x"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _without_kubectl(kubectl: Kubectl, args: tuple[str, ...], document: Any) -> None:
    assert kubectl_calls.try_direct_call(kubectl.server, args, document) is True


def _with_kubectl(kubectl: Kubectl, args: tuple[str, ...], document: Any) -> None:
    assert kubectl.run(*args, document=document)[1] == ""


def _written_state(kubectl: Kubectl, namespace: str, name: str) -> Any:
    found = kubectl.json("get", "configmap", name, "-n", namespace, "--show-managed-fields")
    owned = [
        {key: value for key, value in entry.items() if key != "time"}
        for entry in found["metadata"]["managedFields"]
    ]
    owners = sorted(owned, key=lambda entry: (entry["manager"], entry["operation"]))
    return found["data"], found["metadata"]["annotations"], owners


def _compared_fields(item: Any) -> Any:
    return item["kind"], item["metadata"]["name"], item["metadata"].get("managedFields")
