"""Makes certificates: authorities (CAs), leaves that they sign, and self-signed leaves. ECDSA P-256 throughout.

Pure except for the random keys: the validity is a parameter, never read from a clock. `cryptography` takes a while to
import and a process that serves mounted files never needs it, so it is imported where a key is made.
"""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from steward.certificates.errors import UnusableCertificateError

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

COMMON_NAME_LIMIT = 64


class Usage(StrEnum):
    """Extended key usage of a leaf."""

    SERVER = "server"
    CLIENT = "client"


class Validity(NamedTuple):
    """Start and end of validity, in seconds since the epoch."""

    start: float
    end: float


class KeyPair(NamedTuple):
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "KeyPair(certificate=..., key=...)"


@dataclass(frozen=True)
class Subject:
    """Kubernetes reads the user name of a client certificate from its CN and the groups from its O attributes."""

    common_name: str
    organizations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Profile:
    """Subject, names and usages of a leaf."""

    subject: Subject
    dns_names: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    usages: tuple[Usage, ...] = (Usage.SERVER,)


def make_authority(subject: Subject, validity: Validity) -> KeyPair:
    """A self-signed CA. Its common name ends with part of its serial, so that successive CAs differ in name."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    serial = x509.random_serial_number()
    room = COMMON_NAME_LIMIT - 9
    name = _name(Subject(f"{subject.common_name[:room]} {serial % 16**8:08x}", subject.organizations))
    builder = (
        _builder(validity, key)
        .subject_name(name)
        .issuer_name(name)
        .serial_number(serial)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return _signed(builder, key, key)


def sign_leaf(authority: KeyPair, profile: Profile, validity: Validity) -> KeyPair:
    """A leaf with a key of its own, signed by `authority` and valid no longer than it."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    issuer = x509.load_pem_x509_certificate(authority.certificate)
    key = ec.generate_private_key(ec.SECP256R1())
    end = min(validity.end, issuer.not_valid_after_utc.timestamp())
    builder = (
        _leaf_builder(profile, Validity(validity.start, end), key)
        .issuer_name(issuer.subject)
        .add_extension(_authority_identifier(issuer), critical=False)
    )
    return _signed(builder, key, _load_key(authority.key))


def make_self_signed(profile: Profile, validity: Validity) -> KeyPair:
    """A leaf signed by its own key: it encrypts the traffic and proves no identity."""
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    builder = _leaf_builder(profile, validity, key).issuer_name(_name(profile.subject))
    return _signed(builder, key, key)


def _leaf_builder(
    profile: Profile, validity: Validity, key: "ec.EllipticCurvePrivateKey"
) -> "x509.CertificateBuilder":
    from cryptography import x509

    builder = (
        _builder(validity, key)
        .subject_name(_name(profile.subject))
        .serial_number(x509.random_serial_number())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(_usage_ids(profile.usages)), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    names = _alternative_names(profile)
    return builder.add_extension(x509.SubjectAlternativeName(names), critical=False) if names else builder


def _builder(validity: Validity, key: "ec.EllipticCurvePrivateKey") -> "x509.CertificateBuilder":
    from cryptography import x509

    return (
        x509.CertificateBuilder()
        .public_key(key.public_key())
        .not_valid_before(datetime.fromtimestamp(int(validity.start), UTC))
        .not_valid_after(datetime.fromtimestamp(int(validity.end), UTC))
    )


def _signed(
    builder: "x509.CertificateBuilder",
    subject_key: "ec.EllipticCurvePrivateKey",
    issuer_key: "ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey",
) -> KeyPair:
    from cryptography.hazmat.primitives import hashes, serialization

    certificate = builder.sign(issuer_key, hashes.SHA256())
    key = subject_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), key)


def _load_key(pem: bytes) -> "ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey":
    """The key of an authority that this operator may not have made: ECDSA, or RSA."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise UnusableCertificateError(
            "the authority's key is neither ECDSA nor RSA: delete its Secret, and the operator makes a new one"
        )
    return key


def _name(subject: Subject) -> "x509.Name":
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    organizations = [
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization[:COMMON_NAME_LIMIT])
        for organization in subject.organizations
    ]
    common_name = x509.NameAttribute(NameOID.COMMON_NAME, subject.common_name[:COMMON_NAME_LIMIT])
    return x509.Name([*organizations, common_name])


def _key_usage(*, signs_certificates: bool) -> "x509.KeyUsage":
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _usage_ids(usages: tuple[Usage, ...]) -> "list[x509.ObjectIdentifier]":
    from cryptography.x509.oid import ExtendedKeyUsageOID

    ids = {Usage.SERVER: ExtendedKeyUsageOID.SERVER_AUTH, Usage.CLIENT: ExtendedKeyUsageOID.CLIENT_AUTH}
    return [ids[usage] for usage in usages]


def _alternative_names(profile: Profile) -> "list[x509.GeneralName]":
    from cryptography import x509

    addresses = [x509.IPAddress(ipaddress.ip_address(address)) for address in profile.ip_addresses]
    return [*(x509.DNSName(name) for name in profile.dns_names), *addresses]


def _authority_identifier(issuer: "x509.Certificate") -> "x509.AuthorityKeyIdentifier":
    from cryptography import x509

    try:
        identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        # An authority from elsewhere may lack the extension; its key is always there.
        identifier = x509.SubjectKeyIdentifier.from_public_key(issuer.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
