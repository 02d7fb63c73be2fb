"""Every name that Steward gives: Tenants, their labels, and the Secret beside them.

A name that users can guess, `{uid}-{template}`, wherever that is a valid name; else one that is made valid and ends in
a hash over both parts. A Tenant keeps the name that it has: a new name would be a new Tenant, and the old one deleted.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

NAME_LENGTH: Final = 63
HASH_LENGTH: Final = 10
BUCKETS: Final = 256
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_LABEL: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", re.ASCII)
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+", re.ASCII)


class TenantKey(NamedTuple):
    """What a Tenant is of: one row and one template."""

    uid: str
    template: str


def is_name(text: str) -> bool:
    return len(text) <= NAME_LENGTH and _NAME.fullmatch(text) is not None


def tenant_name(key: TenantKey) -> str:
    plain = f"{key.uid}-{key.template}"
    return plain if is_name(plain) else hashed_name(key)


def hashed_name(key: TenantKey) -> str:
    spelled = _NOT_IN_NAMES.sub("-", f"{key.uid}-{key.template}".lower()).strip("-")
    room = NAME_LENGTH - HASH_LENGTH - 1
    return f"{spelled[:room].rstrip('-') or 'tenant'}-{_digest(*key)[:HASH_LENGTH]}"


def name_tenants(wanted: Iterable[TenantKey], existing: Mapping[TenantKey, str]) -> dict[TenantKey, str]:
    """A name for each. `a-b` of `c` and `a` of `b-c` both want `a-b-c`: who has it keeps it, the other is hashed."""
    keys = sorted(set(wanted))
    taken = {name: key for key, name in existing.items()}
    names: dict[TenantKey, str] = {}
    for key in keys:
        plain = tenant_name(key)
        free = taken.setdefault(plain, key) == key
        names[key] = existing.get(key) or (plain if free else hashed_name(key))
    return names


def label_value(text: str) -> str:
    """The text itself where a label can hold it, else its hash. The truth is in the spec."""
    if len(text) <= NAME_LENGTH and _LABEL.fullmatch(text):
        return text
    return f"sha256-{_digest(text)[:40]}"


def bucket(tenant: str) -> str:
    """Which part of the fleet: the same on every machine, and spread evenly."""
    return str(zlib.crc32(tenant.encode()) % BUCKETS)


def values_secret(tenant: str) -> str:
    return f"{tenant}-values"


def _digest(*parts: str) -> str:
    # Lone surrogates, which no database should hand out, must not stop us from naming anything.
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()
