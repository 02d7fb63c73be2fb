"""TLS of gateways: the certificate exists before them, clients can verify it, and a new one replaces them."""

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from tests.multigres.support.clusters import conditions, small_cluster
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

CLUSTER = "secure"
MADE, AUTHORITY = f"{CLUSTER}-gateway-tls", f"{CLUSTER}-gateway-ca"
ANNOTATION = "multigres.com/gateway-certificate"


class SecureCluster:
    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self.kubectl = kubectl
        self.namespace = namespace

    def apply(self, **tls: Any) -> None:
        manifest = small_cluster(self.namespace, CLUSTER, gatewayTls=tls)
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", document=manifest)

    def secret(self, name: str) -> dict[str, str]:
        """Empty until it exists."""
        found = self.kubectl.json("get", "secrets", "-n", self.namespace)["items"]
        data = next((each.get("data", {}) for each in found if each["metadata"]["name"] == name), {})
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def gateways(self) -> dict[str, Any]:
        """Empty until they exist."""
        selector = f"multigres.com/cluster={CLUSTER},app.kubernetes.io/component=multigateway"
        found = self.kubectl.json("get", "deployments", "-n", self.namespace, "-l", selector)["items"]
        return found[0] if found else {}

    def digest(self) -> str:
        template = self.gateways().get("spec", {}).get("template", {})
        return str(template.get("metadata", {}).get("annotations", {}).get(ANNOTATION, ""))

    def condition(self, name: str) -> str:
        return str(conditions(self.kubectl, self.namespace, CLUSTER).get(name, {}).get("status", ""))


@pytest.fixture
def secure(operator: object, kubectl: Kubectl, namespace: str) -> SecureCluster:
    return SecureCluster(kubectl, namespace)


def shake_hands(certificate: dict[str, str], authority: str, host: str, directory: Path) -> str:
    """The TLS version that a client which verifies the host negotiates with a server that has the certificate."""
    for name in ("tls.crt", "tls.key"):
        (directory / name).write_text(certificate[name])
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(directory / "tls.crt", directory / "tls.key")
    client = ssl.create_default_context(cadata=authority)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(to_client, to_server, server_hostname=host)
    there = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (here, there) * 3:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return str(here.version())


def test_clients_can_verify_the_gateways_of_a_cluster(secure: SecureCluster, tmp_path: Path) -> None:
    secure.apply(enabled=True)
    app = eventually(
        lambda: found if "ca.crt" in (found := secure.secret(f"{CLUSTER}-app")) else {}, "ca.crt"
    )
    certificate = secure.secret(MADE)
    for host in (app["host"], f"{app['host']}.cluster.local"):
        assert shake_hands(certificate, app["ca.crt"], host, tmp_path).startswith("TLSv1")
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(certificate, app["ca.crt"], "another.host", tmp_path)
    assert "sslmode" not in app["uri"], "clients without TLS are accepted as well"
    eventually(lambda: secure.condition("GatewayCertificateReady") == "True", "the condition")
    status = secure.kubectl.json("get", "mgc", CLUSTER, "-n", secure.namespace)["status"]
    assert status["gatewayCertificateExpiry"].endswith("Z")
    eventually(secure.digest, "gateways with a certificate")


def test_a_new_certificate_replaces_the_gateways(secure: SecureCluster) -> None:
    secure.apply(enabled=True)
    first = eventually(secure.digest, "gateways with a certificate")
    secure.kubectl("delete", "secret", MADE, "-n", secure.namespace)
    eventually(lambda: secure.digest() not in ("", first), "gateways with another certificate")


def test_gateways_wait_for_a_certificate_of_the_user(secure: SecureCluster) -> None:
    secure.apply(enabled=True, secretName="own", required=True)

    def message() -> str:
        cells = secure.kubectl.json("get", "cells", "-n", secure.namespace)["items"]
        return str(cells[0].get("status", {}).get("message", "")) if cells else ""

    eventually(
        lambda: "they start when Secret own has a certificate" in message(), "the message", explain=message
    )
    assert secure.gateways() == {}
    assert secure.condition("ReferencesFound") == "False"
    eventually(lambda: secure.condition("GatewayCertificateReady") == "False", "the condition")
    assert secure.secret(MADE) == secure.secret(AUTHORITY) == {}
    data = {"tls.crt": "certificate", "tls.key": "key", "ca.crt": "authority"}
    metadata = {"name": "own", "namespace": secure.namespace}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}
    secure.kubectl("create", "-f", "-", document=secret)
    eventually(secure.digest, "gateways with a certificate")
    words = secure.gateways()["spec"]["template"]["spec"]["containers"][0]["args"]
    assert "--pg-require-ssl" in words
    app = eventually(
        lambda: found if "ca.crt" in (found := secure.secret(f"{CLUSTER}-app")) else {}, "ca.crt"
    )
    assert (app["ca.crt"], app["uri"].endswith("?sslmode=require")) == ("authority", True)


def test_certificates_are_deleted_when_tls_is_turned_off(secure: SecureCluster) -> None:
    secure.apply(enabled=True)
    eventually(secure.digest, "gateways with a certificate")
    patch = json.dumps({"spec": {"gatewayTls": {"enabled": False}}})
    secure.kubectl("patch", "mgc", CLUSTER, "-n", secure.namespace, "--type=merge", "-p", patch)
    eventually(lambda: secure.gateways() and not secure.digest(), "gateways without a certificate")
    eventually(lambda: not secure.secret(MADE) and not secure.secret(AUTHORITY), "the Secrets to be deleted")
    eventually(lambda: "ca.crt" not in secure.secret(f"{CLUSTER}-app"), "accounts without an authority")
    eventually(lambda: secure.condition("GatewayCertificateReady") == "", "the end of the condition")
