"""Keys, certificates, password hashes and random text: profile full."""

import pytest

from steward.gotemplate import ExecError, parse


def render(source: str) -> str:
    return parse(source, profile="full").render({})


def test_a_certificate_is_signed_by_its_authority() -> None:
    from cryptography import x509

    text = render(
        '{{ $ca := genCA "root" 10 }}{{ $c := genSignedCert "leaf" (list "10.0.0.1") (list "a.example") 5 $ca }}'
        "{{ $ca.Cert }}{{ $c.Cert }}"
    )
    authority, leaf = x509.load_pem_x509_certificates(text.encode())
    leaf.verify_directly_issued_by(authority)
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["a.example"]
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert (leaf.not_valid_after_utc - leaf.not_valid_before_utc).days == 5


def test_a_given_key_is_used() -> None:
    source = '{{ $k := genPrivateKey "ecdsa" }}{{ eq (genCAWithKey "x" 1 $k).Key $k }}'
    assert render(source) == "true"


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("ecdsa", "-----BEGIN EC PRIVATE KEY-----"),
        ("ed25519", "-----BEGIN PRIVATE KEY-----"),
        ("x", "Unknown type x"),
    ],
)
def test_private_keys_are_pem(kind: str, start: str) -> None:
    assert render(f'{{{{ genPrivateKey "{kind}" }}}}').startswith(start)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('{{ genCAWithKey "x" 1 "bad" }}', "parsing private key: no PEM data in input"),
        ('{{ genSelfSignedCert "x" (list "y") nil 1 }}', "error parsing ip: y"),
        ('{{ genSelfSignedCert "x" (list 1) nil 1 }}', "error parsing ip: 1 is not a string"),
        (
            '{{ genSelfSignedCert "x" nil (list 1) 1 }}',
            "error processing alternate dns name: 1 is not a string",
        ),
        ('{{ buildCustomCert "!" "" }}', "unable to decode base64 certificate"),
        ('{{ buildCustomCert (b64enc "x") "" }}', "unable to decode certificate"),
        ('{{ buildCustomCert (genPrivateKey "ecdsa" | b64enc) "" }}', "x509: malformed tbs certificate"),
        ("{{ randInt 2 2 }}", "invalid argument to Intn"),
        ("{{ randBytes -1 }}", "runtime error: makeslice: len out of range"),
    ],
)
def test_failures_have_go_words(source: str, words: str) -> None:
    with pytest.raises(ExecError) as caught:
        render(source)
    assert str(caught.value).endswith(words)


def test_random_text_has_its_length_and_alphabet() -> None:
    assert render('{{ regexMatch "^[0-9]{20}$" (randNumeric 20) }}{{ randAlpha -1 }}') == "true"
    assert render("{{ len (randAscii 9) }}{{ len (randAlphaNum 9) }}{{ len (randBytes 3) }}") == "994"
    assert render('{{ shuffle "aaa" }}{{ len uuidv4 }}{{ randInt 3 4 }}') == "aaa363"


def test_password_hashes() -> None:
    assert render('{{ htpasswd "u" "p" | trunc 9 }}') == "u:$2a$10$"
    assert render('{{ htpasswd "a:b" "p" }}') == "invalid username: a:b"
    assert (
        render('{{ bcrypt (repeat 73 "x") }}')
        == "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes"
    )


def test_encrypted_text_comes_back() -> None:
    assert render('{{ encryptAES "k" "é" | decryptAES "k" }}{{ encryptAES "k" "" }}') == "é"
