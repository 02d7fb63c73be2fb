"""Verifiers are those that PostgreSQL computes itself."""

import base64

import pytest

from steward.postgres.scram import is_verifier_of, prepared, scram_verifier

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")


def test_a_verifier_is_that_of_the_example_in_rfc_7677() -> None:
    assert scram_verifier("pencil", SALT) == (
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"
        "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )


@pytest.mark.parametrize(
    ("password", "expected"),
    [
        ("plain", "plain"),
        ("I\u00adX", "IX"),
        ("a\u00a0b", "a b"),
        ("\u00aa", "a"),
        ("\u2168", "IX"),
        ("tab\there", "tab\there"),
        ("\u0627\u0031", "\u0627\u0031"),
    ],
    ids=["ascii", "soft-hyphen", "space", "compatible", "roman", "prohibited", "mixed-directions"],
)
def test_passwords_are_prepared_as_clients_do(password: str, expected: str) -> None:
    assert prepared(password) == expected


@pytest.mark.parametrize(
    ("verifier", "expected"),
    [
        (scram_verifier("päss", b"0123456789abcdef"), True),
        (scram_verifier("other", b"0123456789abcdef"), False),
        (scram_verifier("päss", b"0123456789abcdef").replace("$4096:", "$999999:"), False),
        ("md5abcdef", False),
        ("SCRAM-SHA-256$4096:=$x", False),
    ],
    ids=["same", "another-password", "very-many-iterations", "md5", "invalid"],
)
def test_a_stored_verifier_is_compared_with_a_password(verifier: str, expected: bool) -> None:
    assert is_verifier_of("päss", verifier) is expected
