"""The Master Password algorithm behind sprig's derivePassword: scrypt, then a template of characters."""

from __future__ import annotations

import struct

_SEED = b"com.lyndir.masterpassword"
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"
_ALL_LETTERS = _VOWELS.upper() + _VOWELS + _CONSONANTS.upper() + _CONSONANTS

_LONG = (
    "CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno CvcvnoCvccCvcv "
    "CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv "
    "CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno"
)
TEMPLATES: dict[str, tuple[str, ...]] = {
    "maximum": ("anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"),
    "long": tuple(_LONG.split()),
    "medium": ("CvcnoCvc", "CvcCvcno"),
    "short": ("Cvcn",),
    "basic": ("aaanaaan", "aannaaan", "aaannaaa"),
    "pin": ("nnnn",),
}
_CHARACTERS = {
    "V": _VOWELS.upper(),
    "C": _CONSONANTS.upper(),
    "v": _VOWELS,
    "c": _CONSONANTS,
    "A": _VOWELS.upper() + _CONSONANTS.upper(),
    "a": _ALL_LETTERS,
    "n": "0123456789",
    "o": "@&%?,=[]_:-+*$#!'^~;()/.",
    "x": _ALL_LETTERS + "0123456789!@#$%^&*()",
}


def derive(counter: int, kind: str, password: bytes, user: bytes, site: bytes) -> str:
    """The password of a site: the same for the same words, always."""
    import hashlib
    import hmac

    key = hashlib.scrypt(
        password,
        salt=_SEED + struct.pack(">I", len(user)) + user,
        n=32_768,
        r=8,
        p=2,
        maxmem=80 << 20,
        dklen=64,
    )
    message = _SEED + struct.pack(">I", len(site)) + site + struct.pack(">I", counter)
    seed = hmac.new(key, message, hashlib.sha256).digest()
    templates = TEMPLATES[kind]
    template = templates[seed[0] % len(templates)]
    return "".join(_pick(_CHARACTERS[place], byte) for place, byte in zip(template, seed[1:], strict=False))


def _pick(characters: str, byte: int) -> str:
    return characters[byte % len(characters)]
