"""An authority is replaced while the real API server keeps calling: no call fails.

Two replicas check continuously, with an overlap of seconds. Every call of the webhook is a new TLS handshake, so that
each one is verified with the bundle that the API server has at that time.
"""

import asyncio
from dataclasses import replace

import pytest

from steward.admission.ca_bundle import publish_bundle
from steward.admission.review import Allowed
from steward.admission.server import ServerSettings, Webhook, WebhookServer
from steward.certificates import renewal
from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import DAY, KeeperOptions, Leaf, Lifetimes
from steward.certificates.projection import write_leaf_files
from steward.certificates.serving_certificate import ServingCertificate
from steward.certificates.x509 import is_signed_by, split_bundle
from steward.kube.errors import InternalError, KubeError
from steward.kube.objects.kinds import SECRET, Key, Ref

# Longer than the API server takes to use a new bundle, also on a busy machine.
OVERLAP = 6
LEAF = Leaf("tls", ip_addresses=("127.0.0.1",))
LIFETIMES = Lifetimes(overlap=OVERLAP)
EXPIRING = Lifetimes(overlap=OVERLAP, authority=29 * DAY, renew_before=DAY)
CALLERS = 3
# Shorter than the keeper's interval, after which it would mend a certificate that is not trusted.
PAUSE_SECONDS = 0.1


class OneCallPerConnection(WebhookServer):
    async def _serve(self, request, connection):
        response = await super()._serve(request, connection)
        response.force_close()
        return response


class Rotation:
    """A namespace whose ConfigMaps are reviewed by a test server with a certificate of the keeper."""

    def __init__(self, client, namespace, directory):
        self.client = client
        self.directory = directory
        self.certificate = ServingCertificate(directory)
        self.server = OneCallPerConnection(ServerSettings("127.0.0.1", 0), self.certificate)
        self.server.add(Webhook("/validate", self.allow))
        self.object = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "c", "namespace": namespace},
        }
        self.reviewed = self.made = 0
        self.failed = []
        self.is_calling = True
        self.announced = []
        self.made_before = []
        self.options = KeeperOptions(
            namespace,
            "ca",
            (LEAF,),
            interval=0.2,
            lifetimes=LIFETIMES,
            hooks=(write_leaf_files("tls", directory), self.reload),
            announce=self.record_announcement,
        )

    def record_announcement(self, announcement):
        self.announced.append(announcement.reason)
        self.made_before.append(self.made)

    async def allow(self, review):
        self.reviewed += 1
        return Allowed()

    async def reload(self, trust):
        if trust.leaves:
            self.certificate.reload()

    async def call(self):
        await self.client.create(self.object, dry_run=True)
        self.made += 1

    async def call_repeatedly(self):
        """Call repeatedly, and record failures."""
        while self.is_calling:
            try:
                await self.call()
            except KubeError as error:
                self.failed.append(str(error))
            await asyncio.sleep(PAUSE_SECONDS)

    async def wait_until_reviewed(self):
        """A configuration takes effect once the API server's own watch has delivered it."""
        async with asyncio.timeout(120):
            while not self.reviewed:
                await self.call()

    async def wait_until_announced(self, reason):
        async with asyncio.timeout(120):
            while reason not in self.announced:
                await asyncio.sleep(0.05)

    async def wait_for_more_calls(self, count):
        goal = self.made + count
        async with asyncio.timeout(120):
            while self.made < goal:
                await asyncio.sleep(0.02)


@pytest.fixture
async def rotation(client, namespace, tmp_path):
    rotation = Rotation(client, namespace, tmp_path)
    yield rotation
    await rotation.server.stop()


@pytest.fixture
async def start_calls(rotation):
    """Callers and two replicas of the keeper, from their start to the end of the test."""
    tasks, replicas = [], []

    async def start():
        tasks.extend(asyncio.create_task(rotation.call_repeatedly()) for _ in range(CALLERS))
        for chance in (0.0, 1.0):
            replicas.append(
                CertificateKeeper(rotation.client, rotation.options, chance=lambda chance=chance: chance)
            )
            await replicas[-1].start()

    async def stop():
        rotation.is_calling = False
        await asyncio.gather(*tasks)
        for replica in replicas:
            await replica.stop()

    rotation.stop_calls = stop
    yield start
    await stop()


async def set_up(rotation, register, lifetimes):
    """Make the first certificates, serve, and register the webhook."""
    first = await CertificateKeeper(rotation.client, replace(rotation.options, lifetimes=lifetimes)).check()
    await rotation.server.start()
    ref = await register(rotation.server, "/validate", failurePolicy="Fail")
    publish = publish_bundle(rotation.client, (ref,), "tests-cert")
    await CertificateKeeper(
        rotation.client, replace(rotation.options, lifetimes=lifetimes, hooks=(publish,))
    ).check()
    rotation.options = replace(rotation.options, hooks=(publish, *rotation.options.hooks))
    await rotation.wait_until_reviewed()
    rotation.announced.clear()
    rotation.made_before.clear()
    return first


@pytest.mark.parametrize("lifetimes", [EXPIRING, LIFETIMES], ids=["it expires", "its Secret is deleted"])
async def test_no_call_fails_while_the_authority_is_replaced(rotation, start_calls, register, lifetimes):
    first = await set_up(rotation, register, lifetimes)
    await start_calls()
    if lifetimes is LIFETIMES:
        await rotation.client.delete(Ref(SECRET, Key(rotation.options.namespace, "ca")))
    await rotation.wait_until_announced("AuthorityRetired")
    await rotation.wait_for_more_calls(20)
    await rotation.stop_calls()
    assert rotation.failed == []
    assert rotation.announced == ["AuthorityCreated", "CertificateIssued", "AuthorityRetired"]
    created, issued, retired = rotation.made_before
    assert created < issued < retired < rotation.made <= rotation.reviewed
    last = await CertificateKeeper(rotation.client, rotation.options).check()
    assert len(split_bundle(last.bundle)) == 1
    assert last.bundle != first.bundle
    assert is_signed_by((rotation.directory / "tls.crt").read_bytes(), last.bundle)


async def test_calls_fail_when_the_old_authority_is_not_kept(rotation, start_calls, register, monkeypatch):
    """Shows that the test above can fail: the API server verifies each handshake with the bundle."""
    await set_up(rotation, register, LIFETIMES)
    original = renewal.new_authority

    def without_previous(*arguments):
        return original(*arguments)._replace(previous=())

    monkeypatch.setattr(renewal, "new_authority", without_previous)
    monkeypatch.setattr(renewal, "leaf_renewal_reason", lambda *arguments: None)
    await start_calls()
    await rotation.client.delete(Ref(SECRET, Key(rotation.options.namespace, "ca")))
    async with asyncio.timeout(120):
        while not rotation.failed:
            await asyncio.sleep(0.05)
    assert "certificate signed by unknown authority" in rotation.failed[0]


async def test_a_server_that_the_api_server_does_not_trust_cannot_be_called(rotation, register):
    await CertificateKeeper(rotation.client, rotation.options).check()
    await rotation.server.start()
    await register(rotation.server, "/validate", failurePolicy="Fail")
    with pytest.raises(InternalError, match="certificate signed by unknown authority"):
        await rotation.wait_until_reviewed()
