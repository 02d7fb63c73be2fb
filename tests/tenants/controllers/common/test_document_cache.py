"""Tenants and payloads that the watches have received are not read again; others are read from the API server."""

import base64
from typing import Any

import msgspec
import pytest

from steward.kube.cache.rules import parse_selector
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import SECRET, Key, Kind
from steward.tenants.cache_rules import (
    TENANT_KIND,
    WHOLE_FLEET,
    FleetPart,
    FleetScope,
    TenantsCacheRules,
)
from steward.tenants.controllers.common.document import TenantDocument, UnreadableTenant
from steward.tenants.controllers.common.document_cache import DocumentCache
from steward.tenants.labels import BUCKET, TENANT
from steward.tenants.names import bucket
from steward.tenants.rendering.secret_payload import SecretPayload

ACME = Key("saas", "acme-web")
PAYLOAD = SecretPayload().with_secret("token", {"token": "aHVudGVy"})


class Server:
    """Returns its objects and records which kinds were read."""

    def __init__(self) -> None:
        self.has: dict[tuple[Kind, Key], dict[str, Any]] = {}
        self.reads: list[Kind] = []

    async def get(self, kind: Kind, key: Key, view: type[Any]) -> Any:
        self.reads.append(kind)
        return msgspec.json.decode(msgspec.json.encode(self.has[kind, key]), type=view)


def tenant(version: int, uid: str = "acme", **spec: Any) -> dict[str, Any]:
    metadata = {"name": ACME.name, "namespace": ACME.namespace, "uid": "1", "resourceVersion": str(version)}
    spec = {"uid": uid, "templateRef": "web", "templateGeneration": 1, **spec}
    return {"metadata": metadata, "spec": spec, "status": {"observedGeneration": version}}


def values(payload: SecretPayload, version: int = 1) -> dict[str, Any]:
    labels = {TENANT: ACME.name}
    name = {"name": f"{ACME.name}-values", "namespace": ACME.namespace, "labels": labels}
    return {"metadata": name | {"resourceVersion": str(version)}, "data": payload.data}


class Setup:
    """A document cache with its stores and server."""

    def __init__(self, part: FleetPart = WHOLE_FLEET) -> None:
        rules = TenantsCacheRules(FleetScope())
        self.server = Server()
        self.tenants, self.secrets = Store(rules.tenant), Store(rules.secret)
        self.cache = DocumentCache(self.server, self.tenants, part)  # type: ignore[arg-type]
        self.cache.watch_payloads(self.secrets)

    async def document(self) -> TenantDocument:
        found = await self.cache.get_document(ACME)
        assert isinstance(found, TenantDocument)
        return found


@pytest.fixture
def setup() -> Setup:
    return Setup()


def observe(store: Store[Any], body: dict[str, Any]) -> None:
    store.put_watched(0, msgspec.json.encode(body))


async def test_a_tenant_that_the_watch_has_received_is_not_read(setup: Setup) -> None:
    observe(setup.tenants, tenant(1))
    observe(setup.tenants, tenant(2, configMaps=[{"id": "config", "spec": {"kind": "ConfigMap"}}]))

    found = await setup.document()

    assert (found.spec.uid, found.status.observed_generation) == ("acme", 2)
    assert [each.id for each in found.spec.config_maps or ()] == ["config"]
    assert found.metadata.resource_version == "2"
    assert setup.server.reads == []


async def test_the_answer_to_a_write_is_cached_before_the_watch_receives_it(
    setup: Setup,
) -> None:
    observe(setup.tenants, tenant(1))
    setup.tenants.observe_write(msgspec.json.encode(tenant(5)))

    assert (await setup.document()).status.observed_generation == 5
    assert setup.server.reads == []


async def test_a_tenant_that_was_dropped_from_the_cache_is_read_from_the_server(setup: Setup) -> None:
    observe(setup.tenants, tenant(1))
    setup.cache._documents.forget(ACME)
    setup.server.has[TENANT_KIND, ACME] = tenant(1)

    assert (await setup.document()).spec.uid == "acme"
    assert setup.server.reads == [TENANT_KIND]


async def test_a_deleted_tenant_is_none_without_a_read(setup: Setup) -> None:
    observe(setup.tenants, tenant(1))
    setup.tenants.observe_delete(ACME, "1")

    assert await setup.cache.get_document(ACME) is None
    assert setup.server.reads == []


async def test_a_spec_that_cannot_be_decoded_is_unreadable(setup: Setup) -> None:
    observe(setup.tenants, tenant(1, configMaps=[{"id": 7}]))

    assert isinstance(await setup.cache.get_document(ACME), UnreadableTenant)


async def test_a_payload_is_used_only_if_it_has_the_digest_that_the_tenant_names(setup: Setup) -> None:
    named = {"secretName": f"{ACME.name}-values", "digest": PAYLOAD.digest}
    observe(setup.tenants, tenant(1, values=named))
    observe(setup.secrets, values(PAYLOAD))
    document = await setup.document()
    assert await setup.cache.get_payload(document) == PAYLOAD
    assert setup.server.reads == []

    other = SecretPayload().with_secret("token", {"token": base64.b64encode(b"other").decode()})
    observe(setup.secrets, values(other, version=2))
    setup.server.has[SECRET, Key("saas", f"{ACME.name}-values")] = values(other, version=2)

    assert await setup.cache.get_payload(document) is None
    assert setup.server.reads == [SECRET]


async def test_keys_that_others_added_to_the_values_do_not_hide_the_payload(setup: Setup) -> None:
    named = {"secretName": f"{ACME.name}-values", "digest": PAYLOAD.digest}
    body = {"apiVersion": "v1", "kind": "Secret"}
    config = {"id": "edited", "spec": body | {"kind": "ConfigMap"}}
    observe(
        setup.tenants, tenant(1, values=named, secrets=[{"id": "token", "spec": body}], configMaps=[config])
    )
    edited = values(PAYLOAD)
    edited["data"] = PAYLOAD.data | {"edited": "YQ=="}
    observe(setup.secrets, edited)
    setup.server.has[SECRET, Key("saas", f"{ACME.name}-values")] = edited

    assert await setup.cache.get_payload(await setup.document()) == PAYLOAD
    assert setup.server.reads == [SECRET]


async def test_a_payload_that_was_added_need_not_be_received_by_the_watch(setup: Setup) -> None:
    named = {"secretName": f"{ACME.name}-values", "digest": PAYLOAD.digest}
    setup.cache.add_payload(ACME, PAYLOAD)
    observe(setup.tenants, tenant(1, values=named))

    assert await setup.cache.get_payload(await setup.document()) == PAYLOAD
    assert setup.server.reads == []


async def test_a_tenant_without_secrets_has_an_empty_payload(setup: Setup) -> None:
    observe(setup.tenants, tenant(1))

    assert await setup.cache.get_payload(await setup.document()) == SecretPayload()


async def test_other_secrets_of_a_tenant_are_not_cached(setup: Setup) -> None:
    secret = values(PAYLOAD)
    secret["metadata"]["name"] = "their-own"
    observe(setup.secrets, secret)

    assert setup.cache._payloads.size == 0


PART = FleetPart(parse_selector(f"{BUCKET}={bucket(ACME.name)}"))


def with_bucket(body: dict[str, Any], value: str) -> dict[str, Any]:
    labels = body["metadata"].get("labels", {}) | {BUCKET: value}
    return {**body, "metadata": body["metadata"] | {"labels": labels}}


@pytest.mark.parametrize(("part", "size"), [(PART, 1), (FleetPart(parse_selector(f"{BUCKET}=none")), 0)])
async def test_of_tenants_of_other_parts_neither_the_document_nor_the_payload_is_cached(
    part: FleetPart, size: int
) -> None:
    setup = Setup(part)
    observe(setup.tenants, with_bucket(tenant(1), bucket(ACME.name)))
    observe(setup.secrets, with_bucket(values(PAYLOAD), bucket(ACME.name)))
    assert [len(each._entries) for each in (setup.cache._documents, setup.cache._payloads)] == [size, size]


@pytest.mark.parametrize(("part", "size"), [(PART, 1), (FleetPart(parse_selector(f"{BUCKET}=none")), 0)])
async def test_a_payload_that_is_about_to_be_written_is_kept_for_the_own_part_only(
    part: FleetPart, size: int
) -> None:
    setup = Setup(part)
    setup.cache.add_payload(ACME, PAYLOAD)
    assert len(setup.cache._payloads._entries) == size


async def test_a_tenant_of_another_part_is_read_from_the_server() -> None:
    setup = Setup(PART)
    observe(setup.tenants, with_bucket(tenant(1), "none"))
    setup.server.has[TENANT_KIND, ACME] = tenant(1)
    assert (await setup.document()).spec.uid == "acme"
    assert setup.server.reads == [TENANT_KIND]


async def test_the_document_of_a_tenant_that_leaves_the_part_is_dropped() -> None:
    setup = Setup(PART)
    observe(setup.tenants, with_bucket(tenant(1), bucket(ACME.name)))
    observe(setup.tenants, with_bucket(tenant(2), "none"))
    assert not setup.cache._documents._entries
