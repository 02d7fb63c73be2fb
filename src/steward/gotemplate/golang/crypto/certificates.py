"""X.509 certificates with the fields that sprig gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.crypto import pem, private_keys


@dataclass(frozen=True, slots=True)
class Request:
    """Who the certificate is for, and for how long."""

    name: str
    addresses: list[str]
    names: list[str]
    days: int
    is_authority: bool = False


def self_signed(request: Request, key: Any) -> tuple[str, str]:
    """Certificate and key in PEM."""
    return _issued(request, key, _subject(request.name), key)


def signed(request: Request, key: Any, signer: Any, signer_key: Any) -> tuple[str, str]:
    return _issued(request, key, signer.subject, signer_key)


def parse_certificate(text: str, complaint: str) -> Any:
    """The certificate in the first PEM block; the complaint stands before what is wrong with it."""
    from cryptography import x509

    block = pem.decode(text)
    if block is None:
        raise GoError("unable to decode certificate")
    try:
        return x509.load_der_x509_certificate(block.content)
    except ValueError:
        raise GoError(f"{complaint}x509: {_malformed(block.content)}") from None


def _malformed(der: bytes) -> str:
    """Which part Go stumbles over: the whole, or its first element, which must be a sequence too."""
    inner = _sequence(der)
    if inner is None:
        return "malformed certificate"
    return "malformed tbs certificate" if _sequence(inner) is None else "malformed certificate"


def _sequence(der: bytes) -> bytes | None:
    if len(der) < 2 or der[0] != 0x30:
        return None
    size, start = der[1], 2
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(der[2:start], "big")
    return der[start : start + size] if len(der) >= start + size else None


def _subject(name: str) -> Any:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    if not name:
        return x509.Name([])
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name, _validate=False)])


def _issued(request: Request, key: Any, issuer: Any, signer_key: Any) -> tuple[str, str]:
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        builder = _extended(_dated(request, key, issuer), request, key, signer_key)
        certificate = builder.sign(signer_key, _hash_for(signer_key))
    except (ValueError, TypeError) as error:
        raise GoError(f"error creating certificate: {error}") from None
    return certificate.public_bytes(Encoding.PEM).decode(), private_keys.to_pem(key)


def _dated(request: Request, key: Any, issuer: Any) -> Any:
    import secrets
    from datetime import UTC, datetime, timedelta

    from cryptography import x509

    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_subject(request.name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(secrets.randbelow(1 << 128) + 1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=request.days))
    )


def _extended(builder: Any, request: Request, key: Any, signer_key: Any) -> Any:
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID as Usage

    builder = builder.add_extension(_key_usage(request.is_authority), critical=True)
    builder = builder.add_extension(
        x509.ExtendedKeyUsage([Usage.SERVER_AUTH, Usage.CLIENT_AUTH]), critical=False
    ).add_extension(x509.BasicConstraints(ca=request.is_authority, path_length=None), critical=True)
    if request.is_authority:
        builder = builder.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        )
    if key is not signer_key:
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer_key.public_key())
        builder = builder.add_extension(identifier, critical=False)
    names = _alternative_names(request)
    return (
        builder.add_extension(x509.SubjectAlternativeName(names), critical=not request.name)
        if names
        else builder
    )


def _key_usage(is_authority: bool) -> Any:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=is_authority,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative_names(request: Request) -> list[Any]:
    from ipaddress import ip_address

    from cryptography import x509

    addresses = [x509.IPAddress(ip_address(address)) for address in request.addresses]
    return [*(x509.DNSName(name) for name in request.names), *addresses]


def _hash_for(key: Any) -> Any:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ed25519

    return None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
