import tracemalloc

import msgspec
import pytest

from steward.admission.body import COPIES, decoded_bytes

VALUES = 20_000
PATTERNS = [
    b"[]",
    b"{}",
    b'{"a":1}',
    b'"a"',
    b"1.5",
    b"123456789012",
    b"[[[[]]]]",
    b'{"a":{}}',
    '"é"'.encode(),
    '"\U0001f600"'.encode(),
    b'"\\ud83d\\ude00' + b"a" * 60 + b'"',
    b'{"' + b"k" * 60 + b'":""}',
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_estimate_is_not_less_than_what_decoding_takes(pattern: bytes) -> None:
    body = bytearray(b"[" + b",".join([pattern] * VALUES) + b"]")
    tracemalloc.start()
    decoded = [msgspec.json.decode(body) for _ in range(COPIES)]
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(decoded[0]) == VALUES
    assert taken <= COPIES * decoded_bytes(body)


def test_the_estimate_of_ordinary_text_is_little_more_than_its_length() -> None:
    assert decoded_bytes(bytearray(b"x" * 1_000_000)) == 1_000_000
