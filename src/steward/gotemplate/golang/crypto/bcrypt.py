"""bcrypt hashes as Go writes them: `$2a$10$...`. Imported when one is asked for: few templates do."""

from __future__ import annotations

from steward.gotemplate.errors import GoError

COST = 10
MAX_PASSWORD = 72


def hash_password(password: bytes) -> str:
    import bcrypt

    if len(password) > MAX_PASSWORD:
        raise GoError("bcrypt: password length exceeds 72 bytes")
    return bcrypt.hashpw(password, bcrypt.gensalt(COST, b"2a")).decode()
