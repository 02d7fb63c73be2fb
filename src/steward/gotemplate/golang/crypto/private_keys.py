"""Private keys in the PEM forms that sprig reads and writes."""

from __future__ import annotations

from typing import Any

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.crypto import pem

_KINDS = {"RSA": "RSA", "EC": "EC", "DSA": "DSA"}


def generate(kind: str) -> Any:
    """A new key: rsa (4096 bits), rsa2048, dsa, ecdsa (P-256) or ed25519."""
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa

    if kind == "ecdsa":
        return ec.generate_private_key(ec.SECP256R1())
    if kind == "ed25519":
        return ed25519.Ed25519PrivateKey.generate()
    if kind == "dsa":
        return dsa.generate_private_key(key_size=2048)
    return rsa.generate_private_key(public_exponent=65537, key_size=2048 if kind == "rsa2048" else 4096)


def to_pem(key: Any) -> str:
    """RSA, EC and DSA keys in their own forms, all others as PKCS #8."""
    from cryptography.hazmat.primitives.asymmetric import ed25519
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    is_pkcs8 = isinstance(key, ed25519.Ed25519PrivateKey)
    form = PrivateFormat.PKCS8 if is_pkcs8 else PrivateFormat.TraditionalOpenSSL
    text: bytes = key.private_bytes(Encoding.PEM, form, NoEncryption())
    return text.decode()


def parse(text: str) -> Any:
    """The key in the first PEM block."""
    block = pem.decode(text)
    if block is None:
        raise GoError("no PEM data in input")
    if block.kind == "PRIVATE KEY":
        return _load(block, "decoding PEM as PKCS#8")
    if not block.kind.endswith(" PRIVATE KEY"):
        raise GoError(f"no private key data in PEM block of type {block.kind}")
    kind = _KINDS.get(block.kind.removesuffix(" PRIVATE KEY"))
    if kind is None:
        raise GoError(f"invalid private key type {block.kind}")
    return _load(block, f"parsing {kind} private key from PEM")


def _load(block: pem.Block, doing: str) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return load_pem_private_key(pem.encode(block.kind, block.content).encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise GoError(f"{doing}: {error}") from None
