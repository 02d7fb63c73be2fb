"""A view of ConfigMaps and Secrets that keeps a hash instead of the data, to detect changes.

CacheRule(CONFIG_MAP, HashedData, reduce=reduce_to_hash)
"""

from hashlib import sha256

import msgspec
from msgspec import Struct

from steward.kube.objects.meta import ObjectMeta


class HashedData(Struct, rename="camel", frozen=True, gc=False):
    metadata: ObjectMeta = ObjectMeta()
    data_hash: str = ""


class _Content(Struct, rename="camel", gc=False):
    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    data: msgspec.Raw = msgspec.Raw(b"{}")
    binary_data: msgspec.Raw = msgspec.Raw(b"{}")


_content = msgspec.json.Decoder(_Content)


def reduce_to_hash(body: bytes) -> bytes:
    """The object's metadata and the hash of its data. The API server sorts keys, so equal data have equal hashes."""
    content = _content.decode(body)
    digest = _hash(bytes(content.data), bytes(content.binary_data))
    return b'{"metadata":%b,"dataHash":"%b"}' % (content.metadata, digest.encode())


def hash_data(data: dict[str, str]) -> str:
    """The hash that a ConfigMap with these data has in a cache."""
    return _hash(msgspec.json.encode(data, order="sorted"), b"{}")


def _hash(data: bytes, binary_data: bytes) -> str:
    return sha256(data + b"\0" + binary_data).hexdigest()
