import base64
import secrets
import ssl
import time
from pathlib import Path

import aiohttp
import msgspec
import pytest

from steward.admission.server import ServerSettings, WebhookServer
from steward.certificates.authority import KeyPair, Profile, Subject, Validity, make_authority, sign_leaf
from steward.certificates.serving_certificate import ServingCertificate
from steward.kube.client.client import connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Key, Ref

NAME = Subject("webhook", "tests")


def span(seconds: float = 3600) -> Validity:
    return Validity(time.time() - 60, time.time() + seconds)


def put_leaf(directory: Path, authority: KeyPair) -> KeyPair:
    """Write a fresh server certificate for loopback, as a Secret volume would bring it."""
    leaf = sign_leaf(authority, Profile(NAME, ("localhost",), ("127.0.0.1",)), span())
    (directory / "tls.crt").write_bytes(leaf.certificate)
    (directory / "tls.key").write_bytes(leaf.key)
    return leaf


def review_body(obj=None, old=None, **request):
    meta = (obj or old or {}).get("metadata", {})
    request = {
        "uid": "u-1",
        "operation": "CREATE",
        "kind": {"group": "shop.io", "version": "v1", "kind": "Basket"},
        "resource": {"group": "shop.io", "version": "v1", "resource": "baskets"},
        "name": meta.get("name", ""),
        "namespace": meta.get("namespace", ""),
        "userInfo": {"username": "jane", "groups": ["staff"]},
        "object": obj,
        "oldObject": old,
        **request,
    }
    envelope = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return msgspec.json.encode(envelope)


@pytest.fixture
def authority() -> KeyPair:
    return make_authority(NAME, span())


@pytest.fixture
def cert_dir(tmp_path, authority) -> Path:
    put_leaf(tmp_path, authority)
    return tmp_path


@pytest.fixture
def trust(authority) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.certificate.decode())


@pytest.fixture
async def serve(cert_dir):
    """Start a server on a free port of loopback with the webhooks given."""
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
async def connect_to():
    """Connect our client to the server of a kubeconfig."""
    clients = []

    async def connect_to(kubeconfig):
        clients.append(await connect(load_settings(ConfigSource(kubeconfig=str(kubeconfig)))))
        return clients[-1]

    yield connect_to
    for client in clients:
        await client.close()


@pytest.fixture
async def client(control_plane, connect_to):
    """Our client of the real API server."""
    return await connect_to(control_plane.kubeconfig)


def webhook_configuration(kind, name, webhook):
    """A configuration with one webhook for the ConfigMaps of one namespace."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": ["configmaps"],
    }
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": "check.tests.io",
                "rules": [rule],
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "timeoutSeconds": 30,
                **webhook,
            }
        ],
    }


@pytest.fixture
async def register(client, namespace, authority):
    """Make the API server call a path of a server of ours, for ConfigMaps of the test's namespace."""
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
