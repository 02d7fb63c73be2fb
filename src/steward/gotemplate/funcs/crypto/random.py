"""Random text and numbers, and shuffle: profile full only, since no two renderings agree."""

from __future__ import annotations

from steward.gotemplate.budget import Budget, Profile
from steward.gotemplate.errors import GoPanic
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.base_encoding import encode_base64
from steward.gotemplate.values.utf8 import repaired

table = Table()

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_PRINTABLE = "".join(map(chr, range(32, 127)))


def _text(budget: Budget, count: int, alphabet: str) -> str:
    """So many characters of the alphabet; a negative count gives none."""
    import secrets

    budget.build(max(count, 0))
    budget.work(max(count, 0))
    return "".join(secrets.choice(alphabet) for _ in range(count))


@table.budgeted("randAlphaNum(int) string", Profile.FULL)
def rand_alpha_num(budget: Budget, count: int) -> str:
    return _text(budget, count, _LETTERS + _DIGITS)


@table.budgeted("randAlpha(int) string", Profile.FULL)
def rand_alpha(budget: Budget, count: int) -> str:
    return _text(budget, count, _LETTERS)


@table.budgeted("randNumeric(int) string", Profile.FULL)
def rand_numeric(budget: Budget, count: int) -> str:
    return _text(budget, count, _DIGITS)


@table.budgeted("randAscii(int) string", Profile.FULL)
def rand_ascii(budget: Budget, count: int) -> str:
    return _text(budget, count, _PRINTABLE)


@table.budgeted("randBytes(int) string", Profile.FULL)
def rand_bytes(budget: Budget, count: int) -> str:
    import secrets

    if count < 0:
        raise GoPanic("runtime error: makeslice: len out of range")
    budget.build(count * 4 // 3)
    return encode_base64(secrets.token_bytes(count))


@table.function("randInt(int, int) int", Profile.FULL)
def rand_int(low: int, high: int) -> int:
    import secrets

    if high <= low:
        raise GoPanic("invalid argument to Intn")
    return low + secrets.randbelow(high - low)


@table.function("shuffle(string) string", Profile.FULL)
def shuffle(text: str) -> str:
    import random

    runes = list(repaired(text))
    random.shuffle(runes)
    return "".join(runes)


@table.function("uuidv4() string", Profile.FULL)
def uuidv4() -> str:
    import uuid

    return str(uuid.uuid4())
