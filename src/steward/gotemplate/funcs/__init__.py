"""The function sets: `builtins` (Go's own), `sprig` (those, sprig's and the tenant operator's four), `tenants` (typed).

A set knows every function's name, and imports the module that declares one only when a template calls it: most
templates use a dozen functions, and what the others need (calendars, regular expressions, keys) takes time to load.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping
from typing import Final

from steward.gotemplate.budget import Profile
from steward.gotemplate.funcs.registry import Function, Table

MODULES: Final = {
    "builtins": "and call eq ge gt html index js le len lt ne not or print printf println urlquery",
    "text.building": "cat indent join nindent quote repeat replace squote toString wrap wrapWith",
    "time.dates": (
        "ago date date_in_zone date_modify dateInZone dateModify duration durationRound htmlDate "
        "htmlDateInZone must_date_modify mustDateModify mustToDate now toDate unixEpoch"
    ),
    "defaults": "all any coalesce default empty fail ternary",
    "collections.dicts": "dict dig get hasKey keys omit pick pluck set unset values",
    "crypto.digests": "adler32sum decryptAES derivePassword sha256sum sha512sum",
    "text.encoding": (
        "b32dec b32enc b64dec b64enc mustFromJson mustToJson mustToPrettyJson mustToRawJson toJson "
        "toPrettyJson toRawJson"
    ),
    "numbers.floats": "add1f addf ceil divf floor maxf minf mulf round subf",
    "crypto.keys": (
        "bcrypt buildCustomCert encryptAES genCA genCAWithKey genPrivateKey genSelfSignedCert "
        "genSelfSignedCertWithKey genSignedCert genSignedCertWithKey htpasswd"
    ),
    "collections.lists": (
        "append chunk compact concat first has initial last list mustAppend mustChunk mustCompact mustFirst "
        "mustHas mustInitial mustLast mustPrepend mustPush mustRest mustReverse mustSlice mustUniq "
        "mustWithout prepend push rest reverse slice tuple uniq without"
    ),
    "numbers.math": "add add1 atoi biggest div float64 int int64 max min mod mul sub toDecimal",
    "collections.merging": "deepCopy merge mergeOverwrite mustDeepCopy mustMerge mustMergeOverwrite",
    "text.paths": "base clean dir ext isAbs osBase osClean osDir osExt osIsAbs",
    "crypto.random": "randAlpha randAlphaNum randAscii randBytes randInt randNumeric shuffle uuidv4",
    "collections.ranges": "seq until untilStep",
    "collections.reflection": "deepEqual kindIs kindOf typeIs typeIsLike typeOf",
    "text.regex": (
        "mustRegexFind mustRegexFindAll mustRegexMatch mustRegexReplaceAll mustRegexReplaceAllLiteral "
        "mustRegexSplit regexFind regexFindAll regexMatch regexQuoteMeta regexReplaceAll "
        "regexReplaceAllLiteral regexSplit"
    ),
    "numbers.semver": "semver semverCompare",
    "text.splitting": "sortAlpha split splitList splitn toStrings",
    "text.strings": (
        "abbrev abbrevboth camelcase contains hasPrefix hasSuffix hello initials kebabcase lower nospace "
        "plural snakecase substr swapcase title trim trimAll trimall trimPrefix trimSuffix trunc untitle "
        "upper"
    ),
    "text.urls": "urlJoin urlParse",
    "operator": "fromJson sha1sum toHost trunc63",
}
"""Which module declares what. A test holds this against the modules."""

TENANTS: Final = {
    "int": "funcs.typed",
    "float": "funcs.typed",
    "bool": "funcs.typed",
    "derivePassword": "funcs.costly",
}
"""What the set `tenants` has of its own, or otherwise."""


class FunctionSet(Mapping[str, Function]):
    """Functions by name, each loaded when it is first asked for."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places
        self._loaded: dict[str, Function] = {}

    def __getitem__(self, name: str) -> Function:
        found = self._loaded.get(name)
        if found is None:
            found = self._loaded[name] = _table(self._places[name])[name]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


@functools.cache
def function_set(name: str) -> FunctionSet:
    """The functions of one set by its name; ValueError for a name that is none."""
    if name == "builtins":
        return FunctionSet(dict.fromkeys(BUILTINS, "funcs.builtins"))
    if name == "sprig":
        return FunctionSet(
            {word: f"funcs.{module}" for module, words in MODULES.items() for word in words.split()}
        )
    if name == "tenants":
        return FunctionSet({**function_set("sprig")._places, **TENANTS})
    raise ValueError(f"unknown function set {name!r}: use sprig, tenants or builtins")


def _table(module: str) -> Table:
    table: Table = importlib.import_module(f"steward.gotemplate.{module}").table
    return table


BUILTINS: Final = (*MODULES["builtins"].split(), "slice")
"""`slice` is Go's own here; in the other sets sprig's hides it."""

__all__ = ["Function", "FunctionSet", "Profile", "Table", "function_set"]
