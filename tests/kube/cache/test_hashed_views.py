import msgspec

from steward.kube.cache.hashed_views import HashedData, reduce_to_hash
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.view_decoder import ViewDecoder
from steward.kube.objects.kinds import CONFIG_MAP


def hash_of(**content: object) -> str:
    decode = ViewDecoder(CacheRule(CONFIG_MAP, HashedData, reduce=reduce_to_hash))
    return decode.view(msgspec.json.encode({"metadata": {"name": "a"}, **content})).data_hash


def test_the_hash_follows_the_data_and_nothing_else() -> None:
    assert hash_of(data={"a": "1"}) == hash_of(data={"a": "1"}, immutable=True)
    assert hash_of(data={"a": "1"}) != hash_of(data={"a": "2"})
    assert hash_of(data={"a": "1"}) != hash_of(binaryData={"a": "1"})


def test_the_metadata_stays() -> None:
    body = b'{"metadata":{"name":"a","namespace":"n"},"data":{"big":"' + b"x" * 1000 + b'"}}'

    assert msgspec.json.decode(reduce_to_hash(body), type=HashedData).metadata.namespace == "n"
    assert len(reduce_to_hash(body)) < 200
