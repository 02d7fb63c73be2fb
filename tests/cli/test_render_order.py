"""The order of rendered objects."""

from __future__ import annotations

import pytest

from steward.cli.render_order import in_apply_order
from steward.tenants.api.resource import TResource


def made(id: str, kind: str, *depends: str, namespace: str = "shop") -> TResource:
    metadata = {"name": id} if kind == "Namespace" else {"name": id, "namespace": namespace}
    spec = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    return TResource(id=id, spec=spec, depend_ids=list(depends))


CASES = [
    pytest.param([made("app", "Deployment", "db"), made("db", "StatefulSet")], "db app", id="dependIds"),
    pytest.param(
        [made("app", "Deployment"), made("cfg", "ConfigMap"), made("ns", "Namespace")],
        "ns cfg app",
        id="what others refer to comes first",
    ),
    pytest.param(
        [made("cfg", "ConfigMap", namespace="ns"), made("ns", "Namespace", "key"), made("key", "Secret")],
        "key ns cfg",
        id="an object comes after its Namespace, however late that is",
    ),
    pytest.param(
        [made("cfg", "ConfigMap", namespace="ns"), made("ns", "Namespace", "cfg")],
        "cfg ns",
        id="a Namespace that depends on an object in it",
    ),
]


@pytest.mark.parametrize(("resources", "order"), CASES)
def test_an_object_comes_after_what_it_needs(resources: list[TResource], order: str) -> None:
    assert [each.id for each in in_apply_order(resources)] == order.split()
