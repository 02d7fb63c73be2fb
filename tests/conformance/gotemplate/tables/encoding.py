"""JSON both ways with Go's escapes and float forms, base64 and base32 with their complaints."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call, grid

VALUES = [
    "1", "-1", "1.0", "2.5", "1e6", "1e20", "1e21", "1e-6", "1e-7", "0.000001234", "-0.0", "123456789.125", '"a"', '""', '"<&>"', '"\\u2028\\u2029"', '"\\"\\\\/"', '"\\b\\f\\n\\r\\t\\x00\\x1f\\x7f"', '"é日😀"', '(trunc 1 "é")', "true", "nil",
    ".null", ".list", ".mixed", ".m", ".people", ".el", ".em", "(list)", "(rest (list))", "(dict)", "(until 3)", '(splitList "," "a,b")', '(split "," "a,b")', '(toDate "2006-01-02" "2024-02-29")', '(semver "1.2.3")', "1i", "(list 1i)",
    '(float64 "nan")', '(float64 "inf")', "(int64 5)", "'a'", "(dict 1 2 nil 3)", '(dict "é" 1 "<" 2 "b" (dict "z" 1 "a" (list)))', "(chunk 2 .list)", ".html", '(dict "k" (rest (list)))', "9223372036854775807", "(index .s 0)",
    '(dict "d" (float64 "nan"))', "(regexFindAll \"a\" \"b\" 1)", '(list (list) (dict) nil (list (list)))',
]  # fmt: skip
TEXTS = [
    "1", "-1", "1.5", "1e3", "1E400", "01", "+1", "1.", ".5", "-", '\\"a\\"', '\\"\\\\u00e9\\"', '\\"\\\\ud83d\\\\ude00\\"', '\\"\\\\ud800\\"', '\\"\\\\x\\"', '\\"a', "true", "True", "null", "nul", "[]", "[1,2]", "[1,]", "[", "]", "{}", '{\\"a\\":1}', '{\\"a\\":{\\"b\\":[1,null,true]}}',
    '{\\"a\\"}', '{\\"a\\":}', "{a:1}", "{'a':1}", '{\\"a\\":1,}', '{\\"a\\":1,\\"a\\":2}', "", " ", " 1 ", "1 2", "[1] x", "nan", "NaN", "\\n[1]\\n", "12345678901234567890", "0.1", "[[[[]]]]", "é", '\\"\\t\\"', '\\"\\u0001\\"', "//c", "-0", "1e-400", "{", "[1 2]", '{\\"a\\" 1}', "tru", "truex", "-a", "1e", "0x1", "[,1]", '{,}', '\\"\\\\u12\\"',
]  # fmt: skip
B64 = [
    "",
    "YQ==",
    "YQ",
    "YWI=",
    "YWJj",
    "YQ===",
    "Y",
    "Y Q==",
    "YQ=\\n=",
    "Y\\nQ==",
    "!!!!",
    "YW-_",
    "/w==",
    "YR==",
    "é",
    "YQ==YQ==",
    "====",
    "YWJjZA",
    "ab c",
    "YWJj\\r\\n",
    "Zm9v\\nYmFy",
]
B32 = [
    "",
    "ME======",
    "ME",
    "MFRA====",
    "MFRGG===",
    "MFRGGZA=",
    "MFRGGZDF",
    "me======",
    "M!======",
    "ME=====",
    "1E======",
    "ME\\n======",
    "MFRGGZDFMY======",
    "========",
    "M",
    "ME====== ",
]


def cases() -> Iterator[Case]:
    for name in ("toJson", "toPrettyJson", "toRawJson", "mustToJson", "mustToPrettyJson", "mustToRawJson"):
        yield from call(name, VALUES)
    for name in ("fromJson", "mustFromJson"):
        yield from call(name, [f'"{t}"' for t in TEXTS])
        yield from grid(name, name + ' {0} | printf "%T %v"', [f'"{t}"' for t in TEXTS[:30]])
    yield from call("b64dec", [f'"{t}"' for t in B64])
    yield from call("b32dec", [f'"{t}"' for t in B32])
    samples = ['""', '"a"', '"ab"', '"abc"', '"abcd"', ".u", '(trunc 1 "é")', '(repeat 40 "xyz")']
    for name in ("b64enc", "b32enc", "sha1sum", "sha256sum", "sha512sum", "adler32sum"):
        yield from call(name, samples)
    yield from actions("encoding", MORE)


MORE = r"""
.s | b64enc | b64dec
.u | b32enc | b32dec
b64dec "/+8=" | b64enc
b64dec "/w==" | len
(fromJson "{\"a\":[1,{\"b\":null}]}").a
index (fromJson "[1,2,3]") 1
fromJson "{\"a\":1}" | toJson
fromJson "[1.0, 1e21, 1e-7, 100000000000000000000]" | toJson
fromJson "[1.0, 1e6, 1e-7]"
fromJson "not json"
fromJson "not json" | typeOf
fromJson "null" | typeOf
fromJson "null"
fromJson "null" | quote
fromJson nil
fromJson .null
fromJson 1
mustFromJson "not json"
mustFromJson "{\"a\":1"
mustFromJson ""
toJson (dict "b" 1 "a" (dict "d" nil "c" (list)))
toPrettyJson (dict "b" 1 "a" (dict "d" nil "c" (list)))
toPrettyJson (list)
toPrettyJson (list 1 (list) (dict))
toRawJson (dict "a" "<b>&\u2028")
toRawJson (list nil)
toJson .
toPrettyJson .people
toJson . | fromJson | toJson | eq (toJson .)
toJson "a" "b"
toJson
mustToJson 1i
mustToRawJson 1i
toRawJson 1i
mustToPrettyJson (list 1i)
toJson (dict "a" 1i) | quote
mustToJson (dict "a" 1i)
mustToJson (float64 "nan")
toJson (list (float64 "inf")) | quote
toJson .million
toJson 1000000.0
toJson 1e21
toJson 123456789012345678
toJson (dict "x" .million)
toJson (keys .m)
toJson "\ud7ff\ue000\ufffd"
toJson (print "a" (trunc 1 "é") "b")
toRawJson (print "a" (trunc 1 "é") "b")
toJson (dict (trunc 1 "é") 1)
"""
