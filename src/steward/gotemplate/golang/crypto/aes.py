"""AES-256-CBC as sprig uses it: the password padded with zero bytes is the key, the first block is the IV."""

from __future__ import annotations

from typing import Any

from steward.gotemplate.errors import GoPanic

BLOCK = 16


def encrypt(password: bytes, plain: bytes, iv: bytes) -> bytes:
    padding = BLOCK - len(plain) % BLOCK
    encryptor = _cipher(password, iv).encryptor()
    encrypted: bytes = encryptor.update(plain + bytes([padding]) * padding) + encryptor.finalize()
    return iv + encrypted


def decrypt(password: bytes, encrypted: bytes) -> bytes:
    """The padding's length is believed, as sprig does: a wrong password gives garbage or a panic."""
    iv, body = encrypted[:BLOCK], encrypted[BLOCK:]
    if len(body) % BLOCK:
        raise GoPanic("crypto/cipher: input not full blocks")
    if not body:
        raise GoPanic("runtime error: index out of range [-1]")
    decryptor = _cipher(password, iv).decryptor()
    plain: bytes = decryptor.update(body) + decryptor.finalize()
    kept = len(plain) - plain[-1]
    if kept < 0:
        raise GoPanic(f"runtime error: slice bounds out of range [:{kept}]")
    return plain[:kept]


def _cipher(password: bytes, iv: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES(password[:32].ljust(32, b"\0")), modes.CBC(iv))
