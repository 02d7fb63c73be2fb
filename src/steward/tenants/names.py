"""The names of Tenants, their values Secrets and label values.

A Tenant is called `{uid}-{template}`, which users can guess, wherever that is a valid name; otherwise the name is
made valid and ends in a hash of both parts. A Tenant keeps its name: a new name would be a new Tenant, and the old
one would be deleted.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

NAME_LENGTH: Final = 63
HASH_LENGTH: Final = 10
LONG_HASH_LENGTH: Final = 40
BUCKETS: Final = 256
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_LABEL: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", re.ASCII)
_NOT_IN_PATHS: Final = re.compile("[/%]")
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+", re.ASCII)


class TenantKey(NamedTuple):
    """The row and the template of a Tenant."""

    uid: str
    template: str


def is_name(text: str) -> bool:
    return len(text) <= NAME_LENGTH and _NAME.fullmatch(text) is not None


def is_path_segment(name: str) -> bool:
    """Whether an object of any kind can have this name. The API server cannot even look for others, nor delete them."""
    return name not in (".", "..") and not _NOT_IN_PATHS.search(name)


def tenant_name(key: TenantKey) -> str:
    readable = f"{key.uid}-{key.template}"
    return readable if is_name(readable) else hashed_name(key)


def hashed_name(key: TenantKey, length: int = HASH_LENGTH) -> str:
    sanitized = _NOT_IN_NAMES.sub("-", f"{key.uid}-{key.template}".lower()).strip("-")
    room = NAME_LENGTH - length - 1
    return f"{sanitized[:room].rstrip('-') or 'tenant'}-{_digest(*key)[:length]}"


def name_tenants(desired: Iterable[TenantKey], existing: Mapping[TenantKey, str]) -> dict[TenantKey, str]:
    """A name for each. `a-b` of `c` and `a` of `b-c` both make `a-b-c`: an existing Tenant keeps it, the other has a
    hash. An author of rows can find two with the same short hash within a second: then the other has a long one."""
    taken = {name: key for key, name in existing.items()}
    names: dict[TenantKey, str] = {}
    for key in sorted(set(desired)):
        found = existing.get(key)
        names[key] = found or next(name for name in _candidates(key) if taken.setdefault(name, key) == key)
    return names


def _candidates(key: TenantKey) -> Iterator[str]:
    yield tenant_name(key)
    yield hashed_name(key)
    yield hashed_name(key, LONG_HASH_LENGTH)


def label_value(text: str) -> str:
    """The text itself where it is a valid label value, else its hash. The spec has the full text."""
    if len(text) <= NAME_LENGTH and _LABEL.fullmatch(text):
        return text
    return f"sha256-{_digest(text)[:40]}"


def bucket(tenant: str) -> str:
    """The part of the fleet that a Tenant belongs to: deterministic, and evenly distributed."""
    return str(zlib.crc32(tenant.encode()) % BUCKETS)


def values_secret(tenant: str) -> str:
    return f"{tenant}-values"


def _digest(*parts: str) -> str:
    # Lone surrogates, which no database should return, must not raise an error here.
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()
