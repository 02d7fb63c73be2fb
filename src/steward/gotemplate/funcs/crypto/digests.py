"""Checksums, and what is derived from secrets without randomness: derivePassword, decryptAES."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoPanic
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.base_encoding import decode_base64
from steward.gotemplate.values.values import from_bytes, to_bytes

table = Table()

# scrypt is made to be slow: it takes some 200 ms and 32 MB, so one rendering affords one of them.
_SCRYPT_WORK = 90_000


def _digest(budget: Budget, algorithm: str, text: str) -> str:
    import hashlib

    budget.work(len(text) >> 8)
    return hashlib.new(algorithm, to_bytes(text), usedforsecurity=False).hexdigest()


@table.budgeted("sha1sum(string) string")
def sha1sum(budget: Budget, text: str) -> str:
    return _digest(budget, "sha1", text)


@table.budgeted("sha256sum(string) string")
def sha256sum(budget: Budget, text: str) -> str:
    return _digest(budget, "sha256", text)


@table.budgeted("sha512sum(string) string")
def sha512sum(budget: Budget, text: str) -> str:
    return _digest(budget, "sha512", text)


@table.budgeted("adler32sum(string) string")
def adler32sum(budget: Budget, text: str) -> str:
    import zlib

    budget.work(len(text) >> 10)
    return str(zlib.adler32(to_bytes(text)))


@table.budgeted("derivePassword(uint32, string, string, string, string) string")
def derive_password(budget: Budget, counter: int, kind: str, *words: str) -> str:
    """The words are password, user and site."""
    from steward.gotemplate.golang.crypto.master_password import TEMPLATES, derive

    if kind not in TEMPLATES:
        return f"cannot find password template {kind}"
    budget.work(_SCRYPT_WORK)
    return derive(counter & 0xFFFFFFFF, kind, *map(to_bytes, words))


@table.function("decryptAES(string, string) string")
def decrypt_aes(password: str, encrypted: str) -> str:
    from steward.gotemplate.golang.crypto.aes import decrypt

    if not encrypted:
        return ""
    raw = decode_base64(to_bytes(encrypted))
    if len(raw) < 16:
        raise GoPanic(f"runtime error: slice bounds out of range [:16] with capacity {_capacity(encrypted)}")
    return from_bytes(decrypt(to_bytes(password), raw))


def _capacity(encrypted: str) -> int:
    """What Go's decoder allocates: three bytes for every four characters."""
    return len(to_bytes(encrypted)) // 4 * 3
