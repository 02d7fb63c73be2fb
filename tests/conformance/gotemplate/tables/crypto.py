"""Hashes exactly; what is random or costly by its shape, and by what undoes it."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call, templates

KINDS = ['"maximum"', '"long"', '"medium"', '"short"', '"basic"', '"pin"', '"nope"']


def cases() -> Iterator[Case]:
    yield from call(
        "derivePassword", ["1", "2"], KINDS, ['"password"'], ['"user"'], ['"example.com"'], profile="full"
    )
    yield from actions("derivePassword", DERIVE, profile="full")
    yield from actions("random", RANDOM, profile="full")
    yield from actions("keys", KEYS, profile="full")
    yield from templates("certificates", CERTIFICATES, profile="full")


DERIVE = r"""
derivePassword 1 "long" "" "" ""
derivePassword 0 "long" "é" "ü" "日"
derivePassword 4294967295 "pin" "p" "u" "s"
derivePassword -1 "pin" "p" "u" "s"
derivePassword 4294967296 "pin" "p" "u" "s"
derivePassword 1 "pin" "p" "u"
derivePassword "1" "pin" "p" "u" "s"
derivePassword 1.0 "pin" "p" "u" "s"
derivePassword .n "pin" "p" "u" "s"
"""
RANDOM = r"""
randAlphaNum 8 | regexMatch "^[0-9A-Za-z]{8}$"
randAlpha 8 | regexMatch "^[A-Za-z]{8}$"
randNumeric 8 | regexMatch "^[0-9]{8}$"
randAscii 8 | regexMatch "^[ -~]{8}$"
randAlphaNum 0 | quote
randAlpha -1 | quote
randNumeric "a"
randAscii
randAlphaNum 1 2
randBytes 4 | b64dec | len
randBytes 0 | quote
randBytes 16 | len
randBytes "a"
randInt 5 6
randInt -2 -1
randInt 5 5
randInt 6 5
randInt 1
randInt "a" 1
uuidv4 | regexMatch "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
uuidv4 | len
uuidv4 1
shuffle "hello" | len
shuffle "hello" | splitList "" | sortAlpha | join ""
shuffle ""
shuffle 1
bcrypt "x" | regexMatch "^\\$2a\\$10\\$[./A-Za-z0-9]{53}$"
bcrypt ""  | len
bcrypt (repeat 73 "a")
bcrypt 1
htpasswd "user" "pw" | regexMatch "^user:\\$2a\\$10\\$"
htpasswd "us:er" "pw"
htpasswd "user"
htpasswd "u" (repeat 73 "a")
encryptAES "key" "text" | decryptAES "key"
encryptAES "" "" | decryptAES ""
encryptAES "k" (repeat 40 "é") | decryptAES "k" | len
encryptAES "key" "0123456789abcdef" | b64dec | len
encryptAES "key" "0123456789abcde" | b64dec | len
encryptAES "key"
decryptAES "key" ""
decryptAES "key" "!"
decryptAES "key" "YQ=="
decryptAES "key" "MDEyMzQ1Njc4OWFiY2RlZg=="
decryptAES "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ=" "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ="
"""
KEYS = r"""
genPrivateKey "rsa" | contains "BEGIN RSA PRIVATE KEY"
genPrivateKey "ecdsa" | contains "BEGIN EC PRIVATE KEY"
genPrivateKey "ed25519" | contains "BEGIN PRIVATE KEY"
genPrivateKey "nope"
genPrivateKey 1
genPrivateKey
buildCustomCert "x" "y"
buildCustomCert "eA==" "eQ=="
buildCustomCert
genCA "ca"
genCA "ca" "x"
genCA 1 1
genCAWithKey "ca" 1 "x"
genCAWithKey "ca" 1 ""
genSelfSignedCertWithKey "cn" nil nil 1 "x"
genSignedCert "cn" nil nil 1 "ca"
genSignedCertWithKey "cn" nil nil 1 (genCA "x" 1) "bad"
genSelfSignedCert "cn" (list "x") nil 1
genSelfSignedCert "cn" (list 1) nil 1
genSelfSignedCert "cn" nil (list 1) 1
genSelfSignedCert "cn" (list "1.2.3.4" "300.1.1.1") nil 1
"""
CERTIFICATES = r"""
{{ $c := genCA "ca" 365 }}{{ contains "BEGIN CERTIFICATE" $c.Cert }} {{ contains "BEGIN RSA PRIVATE KEY" $c.Key }} {{ printf "%T" $c }} {{ kindOf $c }}
{{ $c := genCAWithKey "ca" 365 (genPrivateKey "ecdsa") }}{{ contains "BEGIN CERTIFICATE" $c.Cert }} {{ contains "BEGIN EC PRIVATE KEY" $c.Key }}
{{ $c := genSelfSignedCertWithKey "cn" (list "1.2.3.4") (list "a.b") 10 (genPrivateKey "ed25519") }}{{ contains "BEGIN CERTIFICATE" $c.Cert }} {{ contains "BEGIN PRIVATE KEY" $c.Key }}
{{ $ca := genCAWithKey "ca" 365 (genPrivateKey "ecdsa") }}{{ $c := genSignedCertWithKey "cn" nil (list "a.b") 10 $ca (genPrivateKey "ecdsa") }}{{ contains "BEGIN CERTIFICATE" $c.Cert }}{{ ne $c.Cert $ca.Cert }}
{{ $ca := genCAWithKey "ca" 365 (genPrivateKey "ecdsa") }}{{ $b := buildCustomCert (b64enc $ca.Cert) (b64enc $ca.Key) }}{{ eq $b.Cert $ca.Cert }} {{ eq $b $ca }}
{{ $ca := genCAWithKey "ca" 365 (genPrivateKey "ecdsa") }}{{ $ca.Nope }}
{{ $ca := genCAWithKey "ca" 365 (genPrivateKey "ecdsa") }}{{ $ca | toJson | fromJson | keys }}
{{ $ca := genCAWithKey "ca" 365 (genPrivateKey "ecdsa") }}{{ buildCustomCert (b64enc $ca.Cert) "eA==" }}
{{ $ca := genCAWithKey "ca" 365 (genPrivateKey "ecdsa") }}{{ buildCustomCert (b64enc $ca.Key) (b64enc $ca.Key) }}
"""
