"""The verifier of a password that PostgreSQL stores (`SCRAM-SHA-256$…`), computed here. Pure.

A statement with the verifier does not reveal the password to a log, a list of running queries or the server itself.
"""

import base64
import hashlib
import hmac
import re
import stringprep
import unicodedata
from typing import Final

ITERATIONS: Final = 4096
SALT_BYTES: Final = 16
_PROHIBITED: Final = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


_VERIFIER: Final = re.compile(r"SCRAM-SHA-256\$([0-9]{1,6}):([A-Za-z0-9+/=]{1,200})\$.*", re.ASCII)


def scram_verifier(password: str, salt: bytes, iterations: int = ITERATIONS) -> str:
    salted = hashlib.pbkdf2_hmac("sha256", prepared(password).encode(), salt, iterations)
    stored = hashlib.sha256(_hmac(salted, b"Client Key")).digest()
    return f"SCRAM-SHA-256${iterations}:{_text(salt)}${_text(stored)}:{_text(_hmac(salted, b'Server Key'))}"


def is_verifier_of(password: str, verifier: str) -> bool:
    """Whether a stored verifier belongs to the password. One of another format, or of more iterations, counts as that
    of another password and is replaced: a server that is not trusted must not choose how long this takes."""
    found = _VERIFIER.fullmatch(verifier)
    if found is None or not 0 < int(found[1]) <= ITERATIONS:
        return False
    try:
        salt = base64.b64decode(found[2], validate=True)
    except ValueError:
        return False
    return hmac.compare_digest(scram_verifier(password, salt, int(found[1])).encode(), verifier.encode())


def prepared(password: str) -> str:
    """By SASLprep (RFC 4013), as servers and clients do. A password that it prohibits is used as it is, as they do."""
    mapped = "".join(
        " " if stringprep.in_table_c12(each) else each
        for each in password
        if not stringprep.in_table_b1(each)
    )
    normalized = unicodedata.normalize("NFKC", mapped)
    is_prohibited = any(table(each) for each in normalized for table in _PROHIBITED)
    return password if not normalized or is_prohibited or _mixes_directions(normalized) else normalized


def _mixes_directions(text: str) -> bool:
    """RFC 3454, section 6: right-to-left text is not mixed with left-to-right text, and is at both ends."""
    if not any(map(stringprep.in_table_d1, text)):
        return False
    is_enclosed = stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1])
    return any(map(stringprep.in_table_d2, text)) or not is_enclosed


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
