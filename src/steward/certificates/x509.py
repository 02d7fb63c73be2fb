"""Reads certificates: content, matching key, issuer. Pure; None for an unreadable certificate."""

from typing import TYPE_CHECKING, NamedTuple

from steward.certificates.authority import Usage

if TYPE_CHECKING:
    from cryptography import x509


class CertificateFacts(NamedTuple):
    """The content of a certificate that the keeper reads; times in seconds since the epoch."""

    not_before: float
    not_after: float
    common_name: str
    dns_names: frozenset[str]
    ip_addresses: frozenset[str]
    usages: frozenset[Usage]
    is_authority: bool


def read_pair(certificate: bytes, key: bytes) -> CertificateFacts | None:
    """The content of a certificate whose private key is `key`; None if either is invalid or they do not match."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    parsed = _parse(certificate)
    if parsed is None:
        return None
    try:
        private = load_pem_private_key(key, password=None)
    except (ValueError, TypeError):
        return None
    return _facts(parsed) if private.public_key() == parsed.public_key() else None


def read_certificate(certificate: bytes) -> CertificateFacts | None:
    parsed = _parse(certificate)
    return _facts(parsed) if parsed is not None else None


def split_bundle(pem: bytes) -> tuple[bytes, ...]:
    """The distinct certificates of a bundle, as PEM; empty for an unreadable bundle."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        parsed = x509.load_pem_x509_certificates(pem)
    except ValueError:
        return ()
    return tuple(dict.fromkeys(certificate.public_bytes(Encoding.PEM) for certificate in parsed))


def is_signed_by(certificate: bytes, authority: bytes) -> bool:
    """Whether the authority's key made the certificate's signature."""
    from cryptography.exceptions import InvalidSignature

    leaf, issuer = _parse(certificate), _parse(authority)
    if leaf is None or issuer is None:
        return False
    try:
        leaf.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _parse(pem: bytes) -> "x509.Certificate | None":
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError:
        return None


def _facts(certificate: "x509.Certificate") -> CertificateFacts | None:
    from cryptography.x509.oid import NameOID

    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    try:
        dns_names, ip_addresses = _alternative_names(certificate)
        return CertificateFacts(
            not_before=certificate.not_valid_before_utc.timestamp(),
            not_after=certificate.not_valid_after_utc.timestamp(),
            common_name=str(names[0].value) if names else "",
            dns_names=dns_names,
            ip_addresses=ip_addresses,
            usages=_usages(certificate),
            is_authority=_is_authority(certificate),
        )
    except ValueError:
        return None


def _alternative_names(certificate: "x509.Certificate") -> tuple[frozenset[str], frozenset[str]]:
    from cryptography import x509

    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset(), frozenset()
    addresses = names.get_values_for_type(x509.IPAddress)
    return frozenset(names.get_values_for_type(x509.DNSName)), frozenset(map(str, addresses))


def _usages(certificate: "x509.Certificate") -> frozenset[Usage]:
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    usages = {ExtendedKeyUsageOID.SERVER_AUTH: Usage.SERVER, ExtendedKeyUsageOID.CLIENT_AUTH: Usage.CLIENT}
    try:
        stated = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return frozenset()
    return frozenset(usages[usage] for usage in stated if usage in usages)


def _is_authority(certificate: "x509.Certificate") -> bool:
    from cryptography import x509

    try:
        return bool(certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except x509.ExtensionNotFound:
        return False
