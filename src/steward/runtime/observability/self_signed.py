"""Makes a key and a certificate that signs itself, as a program of its own.

    python -P self_signed.py CERTIFICATE KEY DAYS NAME [NAME ...]

The library that makes keys takes a fifth of an idle operator's memory and never gives it back, for one certificate in
the life of a process. So another process makes it, and ends.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def main(certificate: str, key: str, days: str, *names: str) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    signed = _signed(private, timedelta(days=int(days)), names)
    Path(certificate).write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    Path(key).touch(mode=0o600)
    Path(key).write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )


def _signed(key: ec.EllipticCurvePrivateKey, lifetime: timedelta, names: tuple[str, ...]) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
    start = datetime.now(UTC) - timedelta(hours=1)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + lifetime)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .sign(key, hashes.SHA256())
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
