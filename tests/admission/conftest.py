import base64
import secrets
import ssl
from pathlib import Path

import aiohttp
import pytest

from steward.admission.server import ServerSettings, WebhookServer
from steward.certificates.authority import KeyPair
from steward.certificates.serving_certificate import ServingCertificate
from steward.kube.client.client import connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Key, Ref
from tests.admission.support.reviews import webhook_configuration
from tests.certificates.support.leaves import new_authority, write_leaf


@pytest.fixture
def authority() -> KeyPair:
    return new_authority()


@pytest.fixture
def cert_dir(tmp_path, authority) -> Path:
    write_leaf(tmp_path, authority)
    return tmp_path


@pytest.fixture
def trust(authority) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.certificate.decode())


@pytest.fixture
async def serve(cert_dir):
    """Start a server with these webhooks on a free loopback port."""
    servers = []

    async def start(*webhooks, **settings):
        settings = ServerSettings(host="127.0.0.1", port=0, **settings)
        server = WebhookServer(settings, ServingCertificate(cert_dir))
        for webhook in webhooks:
            server.add(webhook)
        await server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        await server.stop()


@pytest.fixture
async def session(trust):
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as session:
        yield session


@pytest.fixture
async def client(control_plane):
    """A client of the real API server."""
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()


@pytest.fixture
async def register(client, namespace, authority):
    """Register a path of a test server with the API server, for ConfigMaps of the test's namespace."""
    made = []

    async def register(server, path, **webhook):
        kind = MUTATING_WEBHOOKS if path.startswith("/mutate") else VALIDATING_WEBHOOKS
        name = f"test-{secrets.token_hex(4)}"
        bundle = base64.b64encode(authority.certificate).decode()
        target = {"url": f"https://127.0.0.1:{server.port}{path}", "caBundle": bundle}
        selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        webhook = {"clientConfig": target, "namespaceSelector": selector, **webhook}
        await client.create(webhook_configuration(kind, name, webhook))
        made.append(Ref(kind, Key("", name)))
        return made[-1]

    yield register
    for ref in made:
        await client.delete(ref)
