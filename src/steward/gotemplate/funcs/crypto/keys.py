"""Keys, certificates and password hashes: profile full only. `cryptography` is imported where a key is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from steward.gotemplate.budget import Budget, Profile
from steward.gotemplate.errors import GoError
from steward.gotemplate.fmt.printing import show
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.base_encoding import decode_base64, encode_base64
from steward.gotemplate.golang.url.netip import is_address
from steward.gotemplate.values.values import Value, from_bytes, go_type, to_bytes

table = Table()

# A key of 2048 bits takes tens of milliseconds, one of 4096 bits several hundred.
_KEY_WORK = 20_000
_LARGE_KEY_WORK = 60_000
_HASH_WORK = 40_000


class Certificate:
    """sprig.certificate: both parts in PEM."""

    go_type = go_type("sprig.certificate", "struct")
    go_methods: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, cert: str, key: str) -> None:
        self.cert = cert
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and (self.cert, self.key) == (other.cert, other.key)

    def __hash__(self) -> int:
        return hash((self.cert, self.key))

    def go_fields(self) -> Mapping[str, Value]:
        return {"Cert": self.cert, "Key": self.key}


@table.budgeted("bcrypt(string) string", Profile.FULL)
def bcrypt(budget: Budget, password: str) -> str:
    from steward.gotemplate.golang.crypto.bcrypt import hash_password

    budget.work(_HASH_WORK)
    try:
        return hash_password(to_bytes(password))
    except GoError as error:
        return f"failed to encrypt string with bcrypt: {error.text}"


@table.budgeted("htpasswd(string, string) string", Profile.FULL)
def htpasswd(budget: Budget, user: str, password: str) -> str:
    if ":" in user:
        return f"invalid username: {user}"
    return f"{user}:{bcrypt(budget, password)}"


@table.function("encryptAES(string, string) string", Profile.FULL)
def encrypt_aes(password: str, plain: str) -> str:
    import secrets

    from steward.gotemplate.golang.crypto.aes import BLOCK, encrypt

    if not plain:
        return ""
    return encode_base64(encrypt(to_bytes(password), to_bytes(plain), secrets.token_bytes(BLOCK)))


@table.budgeted("genPrivateKey(string) string", Profile.FULL)
def gen_private_key(budget: Budget, kind: str) -> str:
    from steward.gotemplate.golang.crypto.private_keys import generate, to_pem

    if kind not in ("", "rsa", "dsa", "ecdsa", "ed25519"):
        return f"Unknown type {kind}"
    budget.work(_KEY_WORK if kind in ("ecdsa", "ed25519") else _LARGE_KEY_WORK)
    return to_pem(generate(kind or "rsa"))


def _new_key(budget: Budget) -> Any:
    from steward.gotemplate.golang.crypto.private_keys import generate

    budget.work(_KEY_WORK)
    return generate("rsa2048")


def _given_key(pem: str) -> Any:
    from steward.gotemplate.golang.crypto.private_keys import parse

    try:
        return parse(pem)
    except GoError as error:
        raise GoError(f"parsing private key: {error.text}") from None


@table.budgeted("genCA(string, int) sprig.certificate", Profile.FULL)
def gen_ca(budget: Budget, name: str, days: int) -> Certificate:
    return _authority(name, days, _new_key(budget))


@table.function("genCAWithKey(string, int, string) sprig.certificate", Profile.FULL)
def gen_ca_with_key(name: str, days: int, pem: str) -> Certificate:
    return _authority(name, days, _given_key(pem))


def _authority(name: str, days: int, key: Any) -> Certificate:
    from steward.gotemplate.golang.crypto.certificates import Request, self_signed

    return Certificate(*self_signed(Request(name, [], [], days, is_authority=True), key))


@table.budgeted("genSelfSignedCert(string, []any, []any, int) sprig.certificate", Profile.FULL)
def gen_self_signed(
    budget: Budget, name: str, ips: list[Value], names: list[Value], days: int
) -> Certificate:
    return _self_signed(name, ips, names, days, _new_key(budget))


@table.function("genSelfSignedCertWithKey(string, []any, []any, int, string) sprig.certificate", Profile.FULL)
def gen_self_signed_with_key(
    name: str, ips: list[Value], names: list[Value], days: int, pem: str
) -> Certificate:
    return _self_signed(name, ips, names, days, _given_key(pem))


def _self_signed(name: str, ips: list[Value], names: list[Value], days: int, key: Any) -> Certificate:
    from steward.gotemplate.golang.crypto.certificates import Request, self_signed

    return Certificate(*self_signed(Request(name, _addresses(ips), _names(names), days), key))


@table.budgeted("genSignedCert(string, []any, []any, int, sprig.certificate) sprig.certificate", Profile.FULL)
def gen_signed(budget: Budget, *arguments: Value) -> Certificate:
    *subject, authority = arguments
    return _signed(subject, authority, _new_key(budget))


@table.function(
    "genSignedCertWithKey(string, []any, []any, int, sprig.certificate, string) sprig.certificate",
    Profile.FULL,
)
def gen_signed_with_key(*arguments: Value) -> Certificate:
    *subject, authority, key = arguments
    return _signed(subject, authority, _given_key(key))


def _signed(subject: list[Value], authority: Certificate, key: Any) -> Certificate:
    """The subject is name, addresses, DNS names and days."""
    from steward.gotemplate.golang.crypto.certificates import Request, parse_certificate, signed
    from steward.gotemplate.golang.crypto.private_keys import parse

    signer = parse_certificate(authority.cert, "error parsing certificate: decodedSignerCert.Bytes: ")
    try:
        signer_key = parse(authority.key)
    except GoError as error:
        raise GoError(f"error parsing private key: {error.text}") from None
    name, ips, names, days = subject
    return Certificate(*signed(Request(name, _addresses(ips), _names(names), days), key, signer, signer_key))


def _addresses(ips: list[Value]) -> list[str]:
    for ip in ips:
        if not isinstance(ip, str):
            raise GoError(f"error parsing ip: {show(ip)} is not a string")
        if not is_address(ip):
            raise GoError(f"error parsing ip: {ip}")
    return list(ips)


def _names(names: list[Value]) -> list[str]:
    for name in names:
        if not isinstance(name, str):
            raise GoError(f"error processing alternate dns name: {show(name)} is not a string")
    return list(names)


@table.function("buildCustomCert(string, string) sprig.certificate", Profile.FULL)
def build_custom_cert(encoded_cert: str, encoded_key: str) -> Certificate:
    from steward.gotemplate.golang.crypto.certificates import parse_certificate
    from steward.gotemplate.golang.crypto.private_keys import parse

    cert = _decoded(encoded_cert, "certificate")
    key = _decoded(encoded_key, "private key")
    parse_certificate(cert, "error parsing certificate: decodedCert.Bytes: ")
    try:
        parse(key)
    except GoError as error:
        raise GoError(f"error parsing private key: {error.text}") from None
    return Certificate(cert, key)


def _decoded(encoded: str, what: str) -> str:
    try:
        return from_bytes(decode_base64(to_bytes(encoded)))
    except GoError:
        raise GoError(f"unable to decode base64 {what}") from None
