"""bcrypt hashes ($2a$10$...), by the `bcrypt` package where it is installed, else by the system's libcrypt.

Written out in Python one hash takes seconds, which no rendering has; so where neither is there, this is an error.
"""

from __future__ import annotations

import secrets

from steward.gotemplate.errors import GoError

COST = 10
MAX_PASSWORD = 72
_ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def hash_password(password: bytes) -> str:
    if len(password) > MAX_PASSWORD:
        raise GoError("bcrypt: password length exceeds 72 bytes")
    salt = f"$2b${COST:02d}${_salt()}".encode()
    hashed = _by_package(password, salt) or _by_libcrypt(password, salt)
    if hashed is None:
        raise GoError("no bcrypt on this machine: install the Python package bcrypt")
    return "$2a" + hashed[3:]


def _salt() -> str:
    """Sixteen random bytes in bcrypt's base64: 22 characters, the last of which holds only two bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(21)) + secrets.choice(_ALPHABET[::16])


def _by_package(password: bytes, salt: bytes) -> str | None:
    from importlib import import_module

    try:
        library = import_module("bcrypt")
    except ImportError:
        return None
    hashed: bytes = library.hashpw(password, salt)
    return hashed.decode()


def _by_libcrypt(password: bytes, salt: bytes) -> str | None:
    import ctypes
    import ctypes.util

    if b"\0" in password:
        return None
    try:
        # PyDLL keeps the interpreter's lock: crypt answers in a buffer of its own, which two threads would share.
        library = ctypes.PyDLL(ctypes.util.find_library("crypt") or "libcrypt.so.1")
        crypt = library.crypt
    except (OSError, AttributeError):
        return None
    crypt.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    crypt.restype = ctypes.c_char_p
    hashed: bytes | None = crypt(password, salt)
    return hashed.decode() if hashed and hashed.startswith(b"$2") else None
