"""What the watches have shown is not asked of the server again; what they have not, or no longer hold, is."""

import base64
from typing import Any

import msgspec
import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import SECRET, Key, Kind
from steward.tenants.cache_rules import TENANT_KIND, Rules
from steward.tenants.controllers.common.document import Document, Unreadable
from steward.tenants.controllers.common.document_cache import Shelf
from steward.tenants.labels import TENANT
from steward.tenants.rendering.secret_payload import Payload

ACME = Key("saas", "acme-web")
PAYLOAD = Payload().with_secret("token", {"token": "aHVudGVy"})


class Server:
    """Answers with what it has, and remembers that it was asked."""

    def __init__(self) -> None:
        self.has: dict[tuple[Kind, Key], dict[str, Any]] = {}
        self.asked: list[Kind] = []

    async def get(self, kind: Kind, key: Key, view: type[Any]) -> Any:
        self.asked.append(kind)
        return msgspec.json.decode(msgspec.json.encode(self.has[kind, key]), type=view)


def tenant(version: int, uid: str = "acme", **spec: Any) -> dict[str, Any]:
    metadata = {"name": ACME.name, "namespace": ACME.namespace, "uid": "1", "resourceVersion": str(version)}
    spec = {"uid": uid, "templateRef": "web", "templateGeneration": 1, **spec}
    return {"metadata": metadata, "spec": spec, "status": {"observedGeneration": version}}


def values(payload: Payload, version: int = 1) -> dict[str, Any]:
    labels = {TENANT: ACME.name}
    name = {"name": f"{ACME.name}-values", "namespace": ACME.namespace, "labels": labels}
    return {"metadata": name | {"resourceVersion": str(version)}, "data": payload.data}


class Standing:
    """A shelf, its stores, and the server behind it."""

    def __init__(self) -> None:
        rules = Rules()
        self.server = Server()
        self.tenants, self.secrets = Store(rules.tenant), Store(rules.secret)
        self.shelf = Shelf(self.server, self.tenants)  # type: ignore[arg-type]
        self.shelf.watch_payloads(self.secrets)

    async def document(self) -> Document:
        found = await self.shelf.document(ACME)
        assert isinstance(found, Document)
        return found


@pytest.fixture
def standing() -> Standing:
    return Standing()


def shown(store: Store[Any], body: dict[str, Any]) -> None:
    store.put(0, msgspec.json.encode(body))


async def test_a_tenant_that_the_watch_has_shown_is_not_asked_for(standing: Standing) -> None:
    shown(standing.tenants, tenant(1))
    shown(standing.tenants, tenant(2, configMaps=[{"id": "config", "spec": {"kind": "ConfigMap"}}]))

    found = await standing.document()

    assert (found.spec.uid, found.status.observed_generation) == ("acme", 2)
    assert [each.id for each in found.spec.config_maps or ()] == ["config"]
    assert found.metadata.resource_version == "2"
    assert standing.server.asked == []


async def test_the_answer_of_our_own_write_is_on_the_shelf_before_any_watch_shows_it(
    standing: Standing,
) -> None:
    shown(standing.tenants, tenant(1))
    standing.tenants.observe(msgspec.json.encode(tenant(5)))

    assert (await standing.document()).status.observed_generation == 5
    assert standing.server.asked == []


async def test_what_is_not_on_the_shelf_any_more_is_read_from_the_server(standing: Standing) -> None:
    shown(standing.tenants, tenant(1))
    standing.shelf._documents.forget(ACME)
    standing.server.has[TENANT_KIND, ACME] = tenant(1)

    assert (await standing.document()).spec.uid == "acme"
    assert standing.server.asked == [TENANT_KIND]


async def test_a_tenant_that_is_gone_is_none_and_nobody_is_asked(standing: Standing) -> None:
    shown(standing.tenants, tenant(1))
    standing.tenants.forget(ACME, "1")

    assert await standing.shelf.document(ACME) is None
    assert standing.server.asked == []


async def test_a_spec_that_cannot_be_read_is_told_as_such(standing: Standing) -> None:
    shown(standing.tenants, tenant(1, configMaps=[{"id": 7}]))

    assert isinstance(await standing.shelf.document(ACME), Unreadable)


async def test_a_payload_is_used_only_if_it_is_the_one_that_the_tenant_names(standing: Standing) -> None:
    named = {"secretName": f"{ACME.name}-values", "digest": PAYLOAD.digest}
    shown(standing.tenants, tenant(1, values=named))
    shown(standing.secrets, values(PAYLOAD))
    document = await standing.document()
    assert await standing.shelf.payload(document) == PAYLOAD
    assert standing.server.asked == []

    other = Payload().with_secret("token", {"token": base64.b64encode(b"other").decode()})
    shown(standing.secrets, values(other, version=2))
    standing.server.has[SECRET, Key("saas", f"{ACME.name}-values")] = values(other, version=2)

    assert await standing.shelf.payload(document) is None
    assert standing.server.asked == [SECRET]


async def test_a_payload_that_is_handed_over_need_not_come_back_by_a_watch(standing: Standing) -> None:
    named = {"secretName": f"{ACME.name}-values", "digest": PAYLOAD.digest}
    standing.shelf.hand_over(ACME, PAYLOAD)
    shown(standing.tenants, tenant(1, values=named))

    assert await standing.shelf.payload(await standing.document()) == PAYLOAD
    assert standing.server.asked == []


async def test_a_tenant_without_secrets_has_an_empty_payload(standing: Standing) -> None:
    shown(standing.tenants, tenant(1))

    assert await standing.shelf.payload(await standing.document()) == Payload()


async def test_secrets_of_the_tenants_own_are_not_kept(standing: Standing) -> None:
    secret = values(PAYLOAD)
    secret["metadata"]["name"] = "their-own"
    shown(standing.secrets, secret)

    assert standing.shelf._payloads.size == 0
