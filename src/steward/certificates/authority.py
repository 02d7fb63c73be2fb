"""Makes certificates: an authority (CA), and leaves that it signs. ECDSA P-256 throughout.

Pure but for the keys' randomness: the validity is given, never read from a clock. `cryptography` takes a while
to import and a process that serves mounted files never needs it, so it is imported where a key is made.
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
    """What a leaf may be used for (extended key usage)."""

    SERVER = "server"
    CLIENT = "client"


class Validity(NamedTuple):
    """From when until when, in seconds since the epoch."""

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
    common_name: str
    organization: str


@dataclass(frozen=True)
class Profile:
    """What a leaf says about its holder."""

    subject: Subject
    dns_names: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    usages: tuple[Usage, ...] = (Usage.SERVER,)


def make_authority(subject: Subject, validity: Validity) -> KeyPair:
    """A self-signed CA. Part of its serial ends the common name: two CAs of one keeper never share a name."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    serial = x509.random_serial_number()
    room = COMMON_NAME_LIMIT - 9
    name = _name(Subject(f"{subject.common_name[:room]} {serial % 16**8:08x}", subject.organization))
    builder = (
        _dated(validity)
        .subject_name(name)
        .issuer_name(name)
        .serial_number(serial)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return _signed(builder, key, key)


def sign_leaf(authority: KeyPair, profile: Profile, validity: Validity) -> KeyPair:
    """A leaf with a key of its own, signed by `authority` and never valid longer than it."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    issuer = x509.load_pem_x509_certificate(authority.certificate)
    key = ec.generate_private_key(ec.SECP256R1())
    end = min(validity.end, issuer.not_valid_after_utc.timestamp())
    builder = (
        _dated(Validity(validity.start, end))
        .subject_name(_name(profile.subject))
        .issuer_name(issuer.subject)
        .serial_number(x509.random_serial_number())
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(_usage_ids(profile.usages)), critical=False)
        .add_extension(x509.SubjectAlternativeName(_alternative_names(profile)), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_authority_identifier(issuer), critical=False)
    )
    return _signed(builder, key, _load_key(authority.key))


def _dated(validity: Validity) -> "x509.CertificateBuilder":
    from cryptography import x509

    return (
        x509.CertificateBuilder()
        .not_valid_before(datetime.fromtimestamp(int(validity.start), UTC))
        .not_valid_after(datetime.fromtimestamp(int(validity.end), UTC))
    )


def _signed(
    builder: "x509.CertificateBuilder",
    own: "ec.EllipticCurvePrivateKey",
    signer: "ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey",
) -> KeyPair:
    from cryptography.hazmat.primitives import hashes, serialization

    certificate = builder.sign(signer, hashes.SHA256())
    key = own.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), key)


def _load_key(pem: bytes) -> "ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey":
    """The key of an authority that may be someone else's work: a key that we would make, or RSA."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise UnusableCertificateError(
            "the authority's key is neither ECDSA nor RSA: delete its Secret, and a new one is made"
        )
    return key


def _name(subject: Subject) -> "x509.Name":
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, subject.organization[:COMMON_NAME_LIMIT]),
            x509.NameAttribute(NameOID.COMMON_NAME, subject.common_name[:COMMON_NAME_LIMIT]),
        ]
    )


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
        stated = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        # An authority that someone else made may lack the extension; the key itself is always there.
        stated = x509.SubjectKeyIdentifier.from_public_key(issuer.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(stated)
