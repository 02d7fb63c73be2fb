"""TLS of gateways: the certificate exists before them, clients can verify it, and a new one replaces them.

The tests share an operator, and a cluster whose certificate the operator makes.
"""

import base64
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.clusters import conditions, small_cluster
from tests.multigres.support.more_short_periods import EARLY_STATUS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

ANNOTATION = "multigres.com/gateway-certificate"
# How soon the operator reads a Secret of the user again.
PERIODS = {**EARLY_STATUS, "steward.multigres.controllers.postgres_access.user_secrets:CACHED_SECONDS": 2.0}
IDLE = {"spec": {"replicas": 0}}
SMALL = {"multiadmin": IDLE, "multiadminWeb": IDLE, "pool": {"replicasPerCell": 0}}


class SecureCluster:
    """Gateways without servers."""

    def __init__(self, kubectl: Kubectl, namespace: str, name: str) -> None:
        self.kubectl = kubectl
        self.namespace = namespace
        self.name = name
        self.made, self.authority = f"{name}-gateway-tls", f"{name}-gateway-ca"

    def apply(self, **tls: Any) -> None:
        manifest = small_cluster(self.namespace, self.name, gatewayTls=tls, **SMALL)
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", document=manifest)

    def secret(self, name: str) -> dict[str, str]:
        """Empty until it exists."""
        found = self.kubectl.json("get", "secrets", "-n", self.namespace)["items"]
        data = next((each.get("data", {}) for each in found if each["metadata"]["name"] == name), {})
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def gateways(self) -> dict[str, Any]:
        """Empty until they exist."""
        selector = f"multigres.com/cluster={self.name},app.kubernetes.io/component=multigateway"
        found = self.kubectl.json("get", "deployments", "-n", self.namespace, "-l", selector)["items"]
        return found[0] if found else {}

    def digest(self) -> str:
        template = self.gateways().get("spec", {}).get("template", {})
        return str(template.get("metadata", {}).get("annotations", {}).get(ANNOTATION, ""))

    def condition(self, name: str) -> str:
        return str(conditions(self.kubectl, self.namespace, self.name).get(name, {}).get("status", ""))


@pytest.fixture(scope="module")
def home(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """A namespace with an operator."""
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, long_namespace, log, periods=PERIODS):
        yield long_namespace


@pytest.fixture
def secure(home: str, kubectl: Kubectl) -> SecureCluster:
    """The cluster that the tests share: with a certificate of the operator."""
    found = SecureCluster(kubectl, home, "secure")
    found.apply(enabled=True)
    return found


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
    app = eventually(lambda: found if "ca.crt" in (found := secure.secret("secure-app")) else {}, "ca.crt")
    certificate = secure.secret(secure.made)
    for host in (app["host"], f"{app['host']}.cluster.local"):
        assert shake_hands(certificate, app["ca.crt"], host, tmp_path).startswith("TLSv1")
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(certificate, app["ca.crt"], "another.host", tmp_path)
    assert "sslmode" not in app["uri"], "clients without TLS are accepted as well"
    eventually(lambda: secure.condition("GatewayCertificateReady") == "True", "the condition")
    status = secure.kubectl.json("get", "mgc", secure.name, "-n", secure.namespace)["status"]
    assert status["gatewayCertificateExpiry"].endswith("Z")
    eventually(secure.digest, "gateways with a certificate")


def test_a_new_certificate_replaces_the_gateways(secure: SecureCluster) -> None:
    first = eventually(secure.digest, "gateways with a certificate")
    secure.kubectl("delete", "secret", secure.made, "-n", secure.namespace)
    eventually(lambda: secure.digest() not in ("", first), "gateways with another certificate")


def test_gateways_wait_for_a_certificate_of_the_user(home: str, kubectl: Kubectl) -> None:
    own = SecureCluster(kubectl, home, "own")
    own.apply(enabled=True, secretName="certificate", required=True)

    def message() -> str:
        cells = own.kubectl.json(
            "get", "cells", "-n", own.namespace, "-l", f"multigres.com/cluster={own.name}"
        )["items"]
        return str(cells[0].get("status", {}).get("message", "")) if cells else ""

    eventually(
        lambda: "they start when Secret certificate has a certificate" in message(),
        "the message",
        explain=message,
    )
    assert own.gateways() == {}
    assert own.condition("ReferencesFound") == "False"
    eventually(lambda: own.condition("GatewayCertificateReady") == "False", "the condition")
    assert own.secret(own.made) == own.secret(own.authority) == {}
    data = {"tls.crt": "certificate", "tls.key": "key", "ca.crt": "authority"}
    metadata = {"name": "certificate", "namespace": own.namespace}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}
    own.kubectl("create", "-f", "-", document=secret)
    eventually(own.digest, "gateways with a certificate")
    words = own.gateways()["spec"]["template"]["spec"]["containers"][0]["args"]
    assert "--pg-require-ssl" in words
    app = eventually(lambda: found if "ca.crt" in (found := own.secret("own-app")) else {}, "ca.crt")
    assert (app["ca.crt"], app["uri"].endswith("?sslmode=require")) == ("authority", True)


def test_certificates_are_deleted_when_tls_is_turned_off(secure: SecureCluster) -> None:
    eventually(secure.digest, "gateways with a certificate")
    patch = json.dumps({"spec": {"gatewayTls": {"enabled": False}}})
    secure.kubectl("patch", "mgc", secure.name, "-n", secure.namespace, "--type=merge", "-p", patch)
    eventually(lambda: secure.gateways() and not secure.digest(), "gateways without a certificate")
    eventually(
        lambda: not secure.secret(secure.made) and not secure.secret(secure.authority),
        "the Secrets to be deleted",
    )
    eventually(lambda: "ca.crt" not in secure.secret("secure-app"), "accounts without an authority")
    eventually(lambda: secure.condition("GatewayCertificateReady") == "", "the end of the condition")
