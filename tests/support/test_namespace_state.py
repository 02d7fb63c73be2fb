"""The report of a failed test says what its namespace waits for."""

from types import SimpleNamespace

from tests.support.api_server import ApiServer
from tests.support.namespace_state import describe_namespace, namespaces_of

POD = {
    "nodeSelector": {"no": "such-node"},
    "containers": [{"name": "waiting", "image": "example.com/waiting"}],
}


def test_namespaces_are_found_by_the_names_of_fixtures_and_in_their_values() -> None:
    fixtures = {
        "namespace": "a",
        "home": "b",
        "shop": SimpleNamespace(namespace="c"),
        "name": "d",
        "count": 3,
    }
    assert namespaces_of(fixtures) == ["a", "b", "c"]


def test_pods_that_are_not_ready_and_warnings_are_named(api_server: ApiServer, namespace: str) -> None:
    create(api_server, namespace, "pods", {"kind": "Pod", "metadata": {"name": "waiting"}, "spec": POD})
    subject = {"kind": "Pod", "name": "waiting", "namespace": namespace}
    event = {"metadata": {"name": "e"}, "reason": "Failing", "message": "no node", "type": "Warning"}
    create(api_server, namespace, "events", {**event, "involvedObject": subject})
    described = describe_namespace(api_server, namespace).splitlines()
    assert any(line.startswith("Pod waiting: {") for line in described)
    assert "Pod waiting: Failing: no node" in described


def create(server: ApiServer, namespace: str, resource: str, manifest: dict[str, object]) -> None:
    answer = server.call(
        "POST", f"/api/v1/namespaces/{namespace}/{resource}", {"apiVersion": "v1", **manifest}
    )
    assert answer.status == 201, answer.body
