"""The certificates of one local cluster: a CA, a server certificate, a client certificate for each caller.

They and the keys of service accounts are made once for a directory and used by every later start, so that copied
kubeconfigs and tokens stay valid. If a certificate is damaged or about to expire, all are made again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from steward.certificates.authority import (
    KeyPair,
    Profile,
    Subject,
    Usage,
    Validity,
    make_authority,
    sign_leaf,
)
from steward.certificates.options import DAY, HOUR
from steward.certificates.x509 import read_pair

_YEARS_10 = 3650 * DAY
_RENEW_BEFORE = 30 * DAY
_USAGES = (Usage.CLIENT, Usage.SERVER)
"""Both for every leaf: etcd's own gateway presents the server's certificate as a client."""

SERVICE_IP = "10.96.0.1"
_SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_SERVER_ADDRESSES = ("127.0.0.1", SERVICE_IP)


@dataclass(frozen=True)
class Caller:
    """The user and groups of a client certificate: RBAC reads the user from its CN and the groups from its O."""

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


@dataclass(frozen=True)
class Leaf:
    """A certificate beyond the fixed set, read with `Certificates.client(name)`."""

    name: str
    subject: Subject
    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


def server_leaf(name: str, address: str) -> Leaf:
    """A leaf for a server on `address`, which is part of its file name: another address gets another file."""
    return Leaf(f"{name}-{address}", Subject(name), _SERVER_NAMES, (*_SERVER_ADDRESSES, address))


def ensure_leaves(certificates: Certificates, leaves: Iterable[Leaf]) -> None:
    """Sign the leaves that are missing or about to expire with the CA of the directory."""
    missing = [leaf for leaf in leaves if not _usable(certificates.client(leaf.name))]
    if not missing:
        return
    ca = KeyPair(certificates.ca.certificate.read_bytes(), certificates.ca.key.read_bytes())
    for leaf in missing:
        profile = Profile(leaf.subject, leaf.names, leaf.addresses, _USAGES)
        _write(certificates.client(leaf.name), sign_leaf(ca, profile, _validity()))


def ensure_webhooks(certificates: Certificates, directory: Path) -> None:
    """Write the files that cert-manager would mount: a pair for servers on this machine, and the CA that signed it."""
    pair = Pair(directory / "tls.crt", directory / "tls.key")
    authority = certificates.ca.certificate.read_bytes()
    ca_file = directory / "ca.crt"
    if ca_file.is_file() and ca_file.read_bytes() == authority and _usable(pair):
        return
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    ca = KeyPair(authority, certificates.ca.key.read_bytes())
    _write(pair, sign_leaf(ca, _server_profile("webhooks"), _validity()))
    ca_file.write_bytes(authority)


def _all_usable(certificates: Certificates) -> bool:
    accounts = certificates.service_accounts
    pairs = [certificates.ca, certificates.server, *(certificates.client(caller.name) for caller in CALLERS)]
    return accounts.key.is_file() and accounts.certificate.is_file() and all(map(_usable, pairs))


def _usable(pair: Pair) -> bool:
    try:
        facts = read_pair(pair.certificate.read_bytes(), pair.key.read_bytes())
    except OSError:
        return False
    return facts is not None and time.time() < facts.not_after - _RENEW_BEFORE


def _make_all(certificates: Certificates) -> None:
    for path in certificates.directory.glob("*.crt"):  # further leaves of an earlier CA
        path.unlink()
    ca = make_authority(Subject("steward-local-ca"), _validity())
    _write(certificates.ca, ca)
    _write(certificates.server, sign_leaf(ca, _server_profile("kube-apiserver"), _validity()))
    for caller in CALLERS:
        profile = Profile(Subject(caller.user, caller.groups), usages=_USAGES)
        _write(certificates.client(caller.name), sign_leaf(ca, profile, _validity()))
    _make_account_keys(certificates.service_accounts)


def _validity() -> Validity:
    # An hour back: the clocks of containers and their hosts differ.
    start = time.time() - HOUR
    return Validity(start, start + _YEARS_10)


def _server_profile(name: str) -> Profile:
    return Profile(Subject(name), _SERVER_NAMES, _SERVER_ADDRESSES, _USAGES)


def _make_account_keys(pair: Pair) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    # SEC1 is the form that every Kubernetes release reads.
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    _write_private(pair.key, private)
    pair.certificate.write_bytes(public)


def _write(pair: Pair, made: KeyPair) -> None:
    _write_private(pair.key, made.key)
    pair.certificate.write_bytes(made.certificate)


def _write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
