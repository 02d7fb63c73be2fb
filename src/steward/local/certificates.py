"""The keys of one local cluster: a CA, one server certificate, one client certificate a caller, the account keys.

Made once for a directory and used again by every later start, so that a kubeconfig or token that a user copied goes on
working. What is damaged or about to expire is made anew.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_YEARS_10 = datetime.timedelta(days=3650)
_RENEW_BEFORE = datetime.timedelta(days=30)

SERVICE_IP = "10.96.0.1"
_SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_SERVER_ADDRESSES = ("127.0.0.1", SERVICE_IP)


@dataclass(frozen=True)
class Caller:
    """Who a client certificate speaks for: RBAC reads the user from its CN and the groups from its O."""

    name: str
    user: str
    groups: tuple[str, ...] = ()


CALLERS = (
    Caller("admin", "steward-admin", ("system:masters",)),
    Caller("kube-controller-manager", "system:kube-controller-manager"),
    Caller("kube-scheduler", "system:kube-scheduler"),
    Caller("kwok", "kwok", ("system:masters",)),
    Caller("etcd-client", "kube-apiserver"),
)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Certificates:
    directory: Path

    @property
    def ca(self) -> Pair:
        return self._pair("ca")

    @property
    def server(self) -> Pair:
        return self._pair("server")

    @property
    def service_accounts(self) -> Pair:
        """Here `certificate` is the public key."""
        return Pair(self.directory / "service-accounts.pub", self.directory / "service-accounts.key")

    def client(self, name: str) -> Pair:
        return self._pair(name)

    def _pair(self, name: str) -> Pair:
        return Pair(self.directory / f"{name}.crt", self.directory / f"{name}.key")


def ensure(directory: Path) -> Certificates:
    """The certificates in `directory`, made or renewed as a set."""
    certificates = Certificates(directory)
    if not _all_usable(certificates):
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make_all(certificates)
    return certificates


def ensure_webhooks(certificates: Certificates, directory: Path) -> None:
    """What cert-manager would mount: a pair for servers on this machine, by the cluster's CA, and that CA beside it."""
    pair = Pair(directory / "tls.crt", directory / "tls.key")
    authority = certificates.ca.certificate.read_bytes()
    beside = directory / "ca.crt"
    if beside.is_file() and beside.read_bytes() == authority and _usable(pair):
        return
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(pair, *_signer_of(certificates.ca).sign(_subject("webhooks"), _server_names()))
    beside.write_bytes(authority)


def _signer_of(ca: Pair) -> _Signer:
    key = serialization.load_pem_private_key(ca.key.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return _Signer(x509.load_pem_x509_certificate(ca.certificate.read_bytes()).subject, key)


def _all_usable(certificates: Certificates) -> bool:
    accounts = certificates.service_accounts
    pairs = [certificates.ca, certificates.server, *(certificates.client(caller.name) for caller in CALLERS)]
    return accounts.key.is_file() and accounts.certificate.is_file() and all(map(_usable, pairs))


def _usable(pair: Pair) -> bool:
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
        key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    except (OSError, ValueError):
        return False
    renew = certificate.not_valid_after_utc - _RENEW_BEFORE
    return key.public_key() == certificate.public_key() and datetime.datetime.now(datetime.UTC) < renew


def _make_all(certificates: Certificates) -> None:
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = _subject("steward-local-ca")
    ca = _builder(ca_name, ca_name, ca_key.public_key())
    ca = ca.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    _write(certificates.ca, ca.sign(ca_key, hashes.SHA256()), ca_key)
    signer = _Signer(ca_name, ca_key)
    _write(certificates.server, *signer.sign(_subject("kube-apiserver"), _server_names()))
    for caller in CALLERS:
        _write(certificates.client(caller.name), *signer.sign(_subject(caller.user, caller.groups)))
    _make_account_keys(certificates.service_accounts)


@dataclass(frozen=True)
class _Signer:
    name: x509.Name
    key: ec.EllipticCurvePrivateKey

    def sign(
        self, subject: x509.Name, names: x509.SubjectAlternativeName | None = None
    ) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        key = ec.generate_private_key(ec.SECP256R1())
        # Both usages: etcd's own gateway presents the server's certificate as a client.
        usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH])
        builder = _builder(subject, self.name, key.public_key()).add_extension(usages, critical=False)
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256()), key


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    # An hour back: the clocks of containers and their hosts differ.
    begins = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + _YEARS_10)
    )


def _subject(user: str, groups: Iterable[str] = ()) -> x509.Name:
    organisations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organisations, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _server_names() -> x509.SubjectAlternativeName:
    addresses = [x509.IPAddress(ipaddress.ip_address(address)) for address in _SERVER_ADDRESSES]
    return x509.SubjectAlternativeName([*map(x509.DNSName, _SERVER_NAMES), *addresses])


def _make_account_keys(pair: Pair) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    _write_private(pair.key, _pem(key))
    pair.certificate.write_bytes(public)


def _write(pair: Pair, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    _write_private(pair.key, _pem(key))
    pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    # SEC1 for the account key's sake: it is the form that every Kubernetes release reads.
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
