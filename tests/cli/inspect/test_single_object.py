"""Objects that are in no tree of their namespace."""

from typing import Any, cast

from steward.cli.inspect.single_object import read_single_object
from steward.cli.inspect.why import why_message
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key, Kind, Manifest

NOW = 1_800_000_000.0
LABELS = {"kubernetes-tenants.org/tenant": "acme-web", "kubernetes-tenants.org/tenant-namespace": "saas"}


def live(kind: str, name: str, owner: str = "", **fields: Any) -> Manifest:
    owner_kind, _, owner_name = owner.partition("/")
    reference = {
        "apiVersion": "apps/v1",
        "kind": owner_kind,
        "name": owner_name,
        "controller": True,
        "uid": owner,
    }
    meta = {"name": name, "namespace": "acme", "uid": name, "ownerReferences": [reference] if owner else []}
    return {"kind": kind, "metadata": {**meta, **fields.pop("metadata", {})}, **fields}


PULLING = {
    "phase": "Pending",
    "containerStatuses": [
        {
            "name": "app",
            "ready": False,
            "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff"}},
        }
    ],
}


class FakeServer:
    """Has some objects, and knows no other."""

    def __init__(self, *objects: Manifest) -> None:
        self._objects = {(each["kind"], each["metadata"]["name"]): each for each in objects}

    async def get(self, kind: Kind, key: Key) -> Manifest:
        found = self._objects.get((kind.kind, key.name))
        if found is None:
            raise NotFound(404, "NotFound", "no such object")
        return found


SERVER = FakeServer(
    live("Pod", "web-1", "ReplicaSet/web-a", status=PULLING),
    live("ReplicaSet", "web-a", "Deployment/web"),
    live("Deployment", "web", metadata={"labels": LABELS}),
    live("Tenant", "acme-web", spec={"templateRef": "web"}),
    live("Pod", "alone", status=PULLING),
)


async def explain(what: str, name: str) -> str:
    node = await read_single_object(cast(Client, SERVER), what, Key("acme", name))
    return "" if node is None else why_message(node, NOW)


async def test_a_pod_in_the_namespace_of_a_tenant_is_mended_in_the_template() -> None:
    sentence = await explain("pod", "web-1")
    assert sentence.startswith("Pod acme/web-1 has failed: container app is in ImagePullBackOff")
    assert "correct the image of container app in TenantTemplate saas/web" in sentence


async def test_an_object_that_a_user_made_is_explained_by_itself() -> None:
    assert "correct the image of container app in the object that creates it" in await explain("po", "alone")


async def test_an_object_that_does_not_exist_is_not_explained() -> None:
    assert await explain("pod", "web-2") == ""
