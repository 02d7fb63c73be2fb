"""Access to a topology server, and the errors for Secrets that cannot be used."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.local import certificates
from steward.local.control_plane import ControlPlane
from steward.multigres.api.topo import TopoReference
from steward.multigres.controllers.common.etcd_access import SecretUnusable, TopologyAccess
from steward.runtime.manager.connect_to import Redirect


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()


def reference(**secrets: str) -> TopoReference:
    return TopoReference(
        address="https://a:2379,https://b:2379", root_path="/r", implementation="etcd", **secrets
    )


async def make_secret(client: Client, namespace: str, data: dict[str, bytes]) -> None:
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    metadata = {"name": "tls", "namespace": namespace}
    await client.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded})


async def test_all_endpoints_are_used_with_the_certificates_of_the_secrets(
    client: Client, namespace: str, tmp_path: Path
) -> None:
    made = certificates.ensure(tmp_path / "pki")
    pair = made.client("admin")
    await make_secret(
        client,
        namespace,
        {
            "ca.crt": made.ca.certificate.read_bytes(),
            "tls.crt": pair.certificate.read_bytes(),
            "tls.key": pair.key.read_bytes(),
        },
    )
    found = await TopologyAccess(client, Redirect(())).endpoints(
        namespace, reference(ca_secret="tls", client_cert_secret="tls")
    )
    assert found.urls == ["https://a:2379", "https://b:2379"]
    assert found.tls is not None
    assert len(found.tls.get_ca_certs()) >= 1


async def test_a_missing_secret_is_named(client: Client, namespace: str) -> None:
    with pytest.raises(SecretUnusable, match=f"Secret {namespace}/tls cannot be read"):
        await TopologyAccess(client, Redirect(())).endpoints(namespace, reference(ca_secret="tls"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"tls.crt": b"x"}, "has no tls.key"),
        ({}, "has no tls.crt and no tls.key"),
        ({"tls.crt": b"x", "tls.key": b"x"}, "are no certificate and its key"),
    ],
)
async def test_an_incomplete_secret_is_named_without_its_contents(
    client: Client, namespace: str, data: dict[str, bytes], message: str
) -> None:
    await make_secret(client, namespace, data)
    with pytest.raises(SecretUnusable, match=message):
        await TopologyAccess(client, Redirect(())).endpoints(namespace, reference(client_cert_secret="tls"))
