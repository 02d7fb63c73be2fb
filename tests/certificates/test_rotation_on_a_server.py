"""An authority is replaced while the real API server keeps calling: no call fails.

Two replicas check all the time, with an overlap of seconds. Every call of the webhook is a new TLS handshake, so that
each one is judged by the bundle that the API server holds at that moment.
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
from steward.certificates.projection import write_files
from steward.certificates.serving_certificate import ServingCertificate
from steward.certificates.x509 import is_signed_by, split_bundle
from steward.kube.errors import InternalError, KubeError
from steward.kube.objects.kinds import SECRET, Key, Ref

# Longer than the API server takes to hear of a new bundle, on a busy machine too.
OVERLAP = 6
LEAF = Leaf("tls", ip_addresses=("127.0.0.1",))
LIFETIMES = Lifetimes(overlap=OVERLAP)
EXPIRING = Lifetimes(overlap=OVERLAP, authority=29 * DAY, renew_before=DAY)
CALLERS = 3


class OneCallPerConnection(WebhookServer):
    async def _serve(self, request):
        response = await super()._serve(request)
        response.force_close()
        return response


class Scene:
    """A namespace whose ConfigMaps are reviewed by a server of ours, under a certificate that we keep."""

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
        self.flows = True
        self.announced = []
        self.made_before = []
        self.options = KeeperOptions(
            namespace,
            "ca",
            (LEAF,),
            interval=0.1,
            lifetimes=LIFETIMES,
            hooks=(write_files("tls", directory), self.reload),
            announce=self.note,
        )

    def note(self, announcement):
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

    async def flow(self):
        """Call over and over, and remember what failed."""
        while self.flows:
            try:
                await self.call()
            except KubeError as error:
                self.failed.append(str(error))

    async def until_reviewed(self):
        """A configuration counts once the API server's own watch has told it."""
        async with asyncio.timeout(120):
            while not self.reviewed:
                await self.call()

    async def until_announced(self, reason):
        async with asyncio.timeout(120):
            while reason not in self.announced:
                await asyncio.sleep(0.05)

    async def until_more_calls(self, count):
        goal = self.made + count
        async with asyncio.timeout(120):
            while self.made < goal:
                await asyncio.sleep(0.02)


@pytest.fixture
async def scene(client, namespace, tmp_path):
    scene = Scene(client, namespace, tmp_path)
    yield scene
    await scene.server.stop()


@pytest.fixture
async def flowing(scene):
    """Callers and two replicas of the keeper, from the moment they are started to the end of the test."""
    tasks, replicas = [], []

    async def start():
        tasks.extend(asyncio.create_task(scene.flow()) for _ in range(CALLERS))
        for chance in (0.0, 1.0):
            replicas.append(
                CertificateKeeper(scene.client, scene.options, chance=lambda chance=chance: chance)
            )
            await replicas[-1].start()

    async def stop():
        scene.flows = False
        await asyncio.gather(*tasks)
        for replica in replicas:
            await replica.stop()

    scene.stop_flowing = stop
    yield start
    await stop()


async def begin(scene, register, lifetimes):
    """Make the first certificates, serve, and have the API server call."""
    first = await CertificateKeeper(scene.client, replace(scene.options, lifetimes=lifetimes)).check()
    await scene.server.start()
    ref = await register(scene.server, "/validate", failurePolicy="Fail")
    publish = publish_bundle(scene.client, (ref,), "tests-cert")
    await CertificateKeeper(
        scene.client, replace(scene.options, lifetimes=lifetimes, hooks=(publish,))
    ).check()
    scene.options = replace(scene.options, hooks=(publish, *scene.options.hooks))
    await scene.until_reviewed()
    scene.announced.clear()
    scene.made_before.clear()
    return first


@pytest.mark.parametrize("lifetimes", [EXPIRING, LIFETIMES], ids=["it expires", "its Secret is deleted"])
async def test_no_call_fails_while_the_authority_is_replaced(scene, flowing, register, lifetimes):
    first = await begin(scene, register, lifetimes)
    await flowing()
    if lifetimes is LIFETIMES:
        await scene.client.delete(Ref(SECRET, Key(scene.options.namespace, "ca")))
    await scene.until_announced("AuthorityRetired")
    await scene.until_more_calls(20)
    await scene.stop_flowing()
    assert scene.failed == []
    assert scene.announced == ["AuthorityCreated", "CertificateIssued", "AuthorityRetired"]
    created, issued, retired = scene.made_before
    assert created < issued < retired < scene.made <= scene.reviewed
    last = await CertificateKeeper(scene.client, scene.options).check()
    assert len(split_bundle(last.bundle)) == 1
    assert last.bundle != first.bundle
    assert is_signed_by((scene.directory / "tls.crt").read_bytes(), last.bundle)


async def test_calls_do_fail_when_the_old_authority_is_not_kept(scene, flowing, register, monkeypatch):
    """The check of the test above: the API server judges each handshake by the bundle."""
    await begin(scene, register, LIFETIMES)
    forgetful = renewal.new_authority

    def forget(*arguments):
        return forgetful(*arguments)._replace(previous=())

    monkeypatch.setattr(renewal, "new_authority", forget)
    monkeypatch.setattr(renewal, "leaf_due", lambda *arguments: None)
    await flowing()
    await scene.client.delete(Ref(SECRET, Key(scene.options.namespace, "ca")))
    async with asyncio.timeout(120):
        while not scene.failed:
            await asyncio.sleep(0.05)
    assert "certificate signed by unknown authority" in scene.failed[0]


async def test_a_server_that_the_api_server_does_not_trust_cannot_be_called(scene, register):
    await CertificateKeeper(scene.client, scene.options).check()
    await scene.server.start()
    await register(scene.server, "/validate", failurePolicy="Fail")
    with pytest.raises(InternalError, match="certificate signed by unknown authority"):
        await scene.until_reviewed()
