"""The hook that writes CA bundles, with a real API server."""

import base64
import secrets
from types import SimpleNamespace

import pytest

from steward.admission.ca_bundle import publish_bundle, webhook_configurations
from steward.kube.objects.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from steward.testkit import AuditLog, Match
from tests.admission.support.reviews import webhook_configuration

NOWHERE = {"clientConfig": {"url": "https://127.0.0.1:1/none"}, "failurePolicy": "Ignore", "rules": []}


class Bundle(SimpleNamespace):
    async def reread(self):
        return self.bundle


@pytest.fixture
async def configurations(client):
    name = f"test-{secrets.token_hex(4)}"
    refs = webhook_configurations(mutating=name, validating=name)
    for kind in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS):
        await client.create(webhook_configuration(kind, name, NOWHERE))
    yield refs
    for ref in refs:
        await client.delete(ref)


async def bundles(client, refs):
    found = [await client.get(ref.kind, ref.key) for ref in refs]
    return [base64.b64decode(one["webhooks"][0]["clientConfig"].get("caBundle", "")) for one in found]


async def test_every_webhook_gets_the_bundle_and_keeps_its_other_fields(client, configurations, authority):
    hook = publish_bundle(client, configurations, "tests-cert")
    await hook(Bundle(bundle=authority.certificate))
    assert await bundles(client, configurations) == [authority.certificate] * 2
    present = await client.get(VALIDATING_WEBHOOKS, configurations[1].key)
    assert present["webhooks"][0]["clientConfig"]["url"] == "https://127.0.0.1:1/none"
    assert present["webhooks"][0]["failurePolicy"] == "Ignore"


async def test_an_unchanged_bundle_is_not_written(client, configurations, authority, control_plane):
    hook = publish_bundle(client, configurations, "tests-cert")
    await hook(Bundle(bundle=authority.certificate))
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    await hook(Bundle(bundle=authority.certificate))
    name = configurations[0].key.name
    assert not (await audit.calls_since(mark)).matching(Match(write=True, name=name))


async def test_missing_configurations_are_ignored(client, authority):
    refs = webhook_configurations(mutating="no-such-configuration")
    await publish_bundle(client, refs, "tests-cert")(Bundle(bundle=authority.certificate))


async def test_an_old_bundle_of_a_slow_replica_never_replaces_a_newer_one(client, configurations, authority):
    """The slow replica reads the configuration, then the other one publishes: the slow one must read again."""
    hook = publish_bundle(client, configurations[:1], "tests-cert")
    newer = authority.certificate + authority.certificate
    old = authority.certificate

    class Slow(Bundle):
        reads = 0

        async def reread(self):
            self.reads += 1
            if self.reads == 1:
                await hook(Bundle(bundle=newer))
                return old
            return newer

    slow = Slow(bundle=old)
    await hook(slow)
    assert slow.reads == 2
    assert (await bundles(client, configurations))[0] == newer
