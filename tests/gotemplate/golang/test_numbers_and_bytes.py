"""decimal, cast, base64 and base32, AES, bcrypt, the Master Password algorithm."""

import base64
import math

import pytest

from steward.gotemplate.errors import GoError, GoPanic
from steward.gotemplate.golang import decimals
from steward.gotemplate.golang.base_encoding import decode_base32, decode_base64, encode_base32
from steward.gotemplate.golang.cast import to_float64, to_int64
from steward.gotemplate.golang.crypto import aes
from steward.gotemplate.golang.crypto.bcrypt import hash_password
from steward.gotemplate.golang.crypto.master_password import derive
from steward.gotemplate.golang.time.time import Duration, Month
from steward.gotemplate.values.values import Int64, Uint64


def test_decimal_sums_are_exact() -> None:
    assert decimals.fold(0.1, [0.2], decimals.add) == 0.3
    assert decimals.fold(1.0, [0.9], decimals.subtract) == 0.1


def test_quotients_have_sixteen_places_and_halves_go_up() -> None:
    assert decimals.fold(2.0, [3.0], decimals.divide) == 0.6666666666666667
    assert decimals.fold(1e-17, [2.0], decimals.divide) == 0.0


def test_a_decimal_division_by_zero_panics() -> None:
    with pytest.raises(GoPanic, match="decimal division by 0"):
        decimals.fold(1.0, [0.0], decimals.divide)


def test_products_beyond_floats_are_infinite_and_infinity_is_no_decimal() -> None:
    assert decimals.fold(1e308, [1e308] * 50, decimals.multiply) == math.inf
    with pytest.raises(GoPanic, match=r"Cannot create a Decimal from \+Inf"):
        decimals.fold(math.inf, [], decimals.add)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("010", 8),
        ("08", 0),
        ("1.0", 1),
        ("1.5", 0),
        (True, 1),
        (2.9, 2),
        (1e20, -(1 << 63)),
        (Uint64((1 << 64) - 1), -1),
        (Int64(7), 7),
        (Month(3), 3),
        (Duration(5), 0),
        (None, 0),
        ([], 0),
    ],
)
def test_anything_is_an_int64(value: object, number: int) -> None:
    assert to_int64(value) == number


def test_anything_is_a_float64() -> None:
    assert [to_float64(value) for value in ("1.5", "x", "1e400", 3, None, Int64(2))] == [1.5, 0, 0, 3, 0, 2]


@pytest.mark.parametrize(
    ("text", "place"), [(b"YQ=", 3), (b"YQ==x", 4), (b"a", 0), (b"YWJj!", 4), (b"YQ\n=x", 3), (b"=", 0)]
)
def test_bad_base64_is_named_by_its_place(text: bytes, place: int) -> None:
    with pytest.raises(GoError) as caught:
        decode_base64(text)
    assert caught.value.text == f"illegal base64 data at input byte {place}"


@pytest.mark.parametrize("size", [*range(41), 1000, 4096])
def test_base32_is_that_of_the_standard_library_at_any_length(size: int) -> None:
    raw = bytes(number * 37 % 256 for number in range(size))
    encoded = encode_base32(raw)
    assert encoded == base64.b32encode(raw).decode()
    assert decode_base32(encoded.encode()) == raw


def test_line_ends_in_base64_and_base32_are_skipped() -> None:
    assert decode_base64(b"YW\r\nJj") == b"abc"
    assert decode_base32(b"ME\n======") == b"a"


@pytest.mark.parametrize(("text", "place"), [(b"ME", 0), (b"ME=====", 7), (b"m", 0), (b"MFR=====", 3)])
def test_bad_base32_is_named_by_its_place(text: bytes, place: int) -> None:
    with pytest.raises(GoError) as caught:
        decode_base32(text)
    assert caught.value.text == f"illegal base32 data at input byte {place}"


def test_aes_comes_back_and_a_broken_text_panics() -> None:
    assert aes.decrypt(b"key", aes.encrypt(b"key", b"text", b"\0" * 16)) == b"text"
    with pytest.raises(GoPanic, match="crypto/cipher: input not full blocks"):
        aes.decrypt(b"key", b"\0" * 17)


def test_a_derived_password_is_always_the_same() -> None:
    assert derive(1, "long", b"password", b"user", b"example.com") == "ZedaFaxcZaso9*"


def test_bcrypt_hashes_have_go_form_and_refuse_long_passwords() -> None:
    hashed = hash_password(b"secret")
    assert (hashed[:7], len(hashed)) == ("$2a$10$", 60)
    with pytest.raises(GoError, match="bcrypt: password length exceeds 72 bytes"):
        hash_password(b"x" * 73)
