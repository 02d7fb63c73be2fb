"""Client certificates that the cluster signs through CertificateSigningRequests."""

import base64
import json
import secrets

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from steward.kube.client.client import Client, WatchQuery
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.patches import MergePatch

REQUEST = Kind("certificates.k8s.io/v1", "CertificateSigningRequest")


async def signed(client: Client, user: str) -> tuple[bytes, bytes]:
    """A client certificate and key of this user."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = f"steward-test-{secrets.token_hex(5)}"
    spec = {
        "request": base64.b64encode(_question(user, key)).decode(),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth", "digital signature"],
    }
    await client.create(
        {
            "apiVersion": REQUEST.api_version,
            "kind": REQUEST.kind,
            "metadata": {"name": name},
            "spec": spec,
        }
    )
    approved = {"conditions": [{"type": "Approved", "status": "True", "reason": "Test"}]}
    await client.patch(Ref(REQUEST, Key("", name)), MergePatch({"status": approved}), "approval")
    certificate = await _issued(client, name)
    await client.delete(Ref(REQUEST, Key("", name)))
    return certificate, _pem(key)


def _question(user: str, key: ec.EllipticCurvePrivateKey) -> bytes:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user)])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    return request.public_bytes(serialization.Encoding.PEM)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


async def _issued(client: Client, name: str) -> bytes:
    async with client.watch(REQUEST, WatchQuery(field_selector=f"metadata.name={name}")) as lines:
        async for line in lines:
            certificate = json.loads(line)["object"].get("status", {}).get("certificate")
            if certificate:
                return base64.b64decode(certificate)
    raise AssertionError("the watch ended before the certificate was issued")
