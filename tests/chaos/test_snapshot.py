"""Comparison of two namespaces."""

from typing import Any

from tests.chaos.snapshot import differences, take_snapshot

LIVE, REFERENCE = "space-one", "space-two"


def _service(namespace: str, **fields: Any) -> dict[str, Any]:
    metadata = {
        "name": "web",
        "namespace": namespace,
        "uid": f"uid-{namespace}",
        "resourceVersion": namespace,
        "labels": {"app": "web"},
        "ownerReferences": [{"kind": "Cell", "name": "z1", "uid": f"owner-{namespace}"}],
        **fields.pop("metadata", {}),
    }
    spec = {"clusterIP": f"ip-{namespace}", "ports": [{"port": 80}], **fields.pop("spec", {})}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec, **fields}


def _compare(live: list[dict[str, Any]], reference: list[dict[str, Any]]) -> list[str]:
    return differences(take_snapshot(live, LIVE), take_snapshot(reference, REFERENCE))


def test_objects_that_differ_by_chance_are_equal() -> None:
    assert _compare([_service(LIVE)], [_service(REFERENCE)]) == []


def test_a_missing_and_an_additional_object_are_found() -> None:
    other = _service(LIVE, metadata={"name": "other"})
    assert _compare([other], [_service(REFERENCE)]) == [
        "Service/other: exists, and not in the reference",
        "Service/web: is missing",
    ]


def test_a_field_that_differs_is_named() -> None:
    assert _compare(
        [_service(LIVE, spec={"type": "NodePort"})], [_service(REFERENCE, spec={"type": "ClusterIP"})]
    ) == ["Service/web.spec.type: 'NodePort' instead of 'ClusterIP'"]


def test_a_label_and_an_owner_that_differ_are_found() -> None:
    live = _service(LIVE, metadata={"labels": {}, "ownerReferences": []})
    assert _compare([live], [_service(REFERENCE)]) == [
        "Service/web.metadata.labels.app: None instead of 'web'",
        "Service/web.metadata.owners: [] instead of ['Cell/z1']",
    ]


def test_an_object_that_terminates_differs() -> None:
    live = _service(LIVE, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert _compare([live], [_service(REFERENCE)]) == [
        "Service/web.metadata.terminating: True instead of False"
    ]


def test_the_namespace_inside_texts_is_replaced() -> None:
    live, reference = [_service(name, spec={"externalName": f"db.{name}.svc"}) for name in (LIVE, REFERENCE)]
    assert _compare([live], [reference]) == []


def test_the_payload_of_a_secret_is_not_compared_but_its_keys_are() -> None:
    def secret(**data: str) -> dict[str, Any]:
        return {"kind": "Secret", "metadata": {"name": "s"}, "type": "Opaque", "data": data}

    assert _compare([secret(password="one")], [secret(password="two")]) == []
    assert _compare([secret(password="one", more="x")], [secret(password="two")]) != []


def test_conditions_are_compared_by_type_status_and_reason() -> None:
    def cell(*conditions: tuple[str, str]) -> dict[str, Any]:
        found = [
            {"type": type_, "status": status, "reason": "R", "message": str(id(status))}
            for type_, status in conditions
        ]
        return {"kind": "Cell", "metadata": {"name": "c"}, "spec": {}, "status": {"conditions": found}}

    assert _compare([cell(("A", "True"), ("B", "True"))], [cell(("B", "True"), ("A", "True"))]) == []
    assert _compare([cell(("A", "False"))], [cell(("A", "True"))]) != []
