"""What the fuzzer knows of each function: the kinds of its places and of its result. Not Go's signatures: finer where
chance would do harm (a `small` never asks for a gigabyte, a `when` never reads the clock), coarser where it does not
matter.
"""

from __future__ import annotations

from dataclasses import dataclass

# Kinds: str int i64 float bool list strs ints dict smap time ver any nil. For places also: num (any number),
# small (few), seq (any list), when (a fixed time), scalar (nothing that can hold another), fresh (a dict that nothing
# else holds: merging a map into one inside it makes a circle), and text with a meaning: layout, zone, pattern, json,
# version, range, format, url, path, dur, repl.
_TABLE = """
abbrev small str > str
abbrevboth small small str > str
add num... > i64
add1 num > i64
add1f num > float
addf num... > float
adler32sum str > str
all any... > bool
and any any... > any
any any... > bool
append seq any > list
atoi str > int
b32dec str > str
b32enc str > str
b64dec str > str
b64enc str > str
base path > str
biggest num num... > i64
camelcase str > str
cat any... > str
ceil num > float
chunk small seq > any
clean path > str
coalesce any... > any
compact seq > list
concat seq... > list
contains str str > bool
date layout when > str
dateInZone layout when zone > str
date_in_zone layout when zone > str
dateModify dur time > time
date_modify dur time > time
deepCopy any > any
deepEqual any any > bool
default any any > any
dict str any str any > dict
dict str any > dict
dig str any dict > any
dig str str any dict > any
dir path > str
div num num > i64
divf num num > float
duration scalar > str
durationRound dur > str
empty any > bool
eq any any > bool
eq str str > bool
eq num num > bool
ext path > str
first seq > any
float64 num > float
floor num > float
fromJson json > any
ge num num > bool
get dict str > any
gt num num > bool
has any seq > bool
hasKey dict str > bool
hasPrefix str str > bool
hasSuffix str str > bool
html any > str
htmlDate when > str
htmlDateInZone when zone > str
indent small str > str
index seq small > any
index dict str > any
index str small > any
initial seq > list
initials str > str
int num > int
int64 num > i64
isAbs path > bool
join str seq > str
js any > str
kebabcase str > str
keys dict > strs
kindIs str any > bool
kindOf any > str
last seq > any
le num num > bool
len str > int
len seq > int
len dict > int
list any... > list
lower str > str
lt num num > bool
lt str str > bool
max num num... > i64
maxf num num... > float
merge fresh dict > dict
mergeOverwrite fresh dict > dict
min num num... > i64
minf num num... > float
mod num num > i64
mul num num... > i64
mulf num num... > float
must_date_modify dur time > time
mustAppend seq any > list
mustChunk small seq > any
mustCompact seq > list
mustDateModify dur time > time
mustDeepCopy any > any
mustFirst seq > any
mustFromJson json > any
mustHas any seq > bool
mustInitial seq > list
mustLast seq > any
mustMerge fresh dict > dict
mustMergeOverwrite fresh dict > dict
mustPrepend seq any > list
mustPush seq any > list
mustRegexFind pattern str > str
mustRegexFindAll pattern str small > strs
mustRegexMatch pattern str > bool
mustRegexReplaceAll pattern str repl > str
mustRegexReplaceAllLiteral pattern str repl > str
mustRegexSplit pattern str small > strs
mustRest seq > list
mustReverse seq > list
mustSlice seq small small > list
mustToDate layout str > time
mustToJson any > str
mustToPrettyJson any > str
mustToRawJson any > str
mustUniq seq > list
mustWithout seq any... > list
ne any any > bool
nindent small str > str
nospace str > str
not any > bool
omit dict str... > dict
or any any... > any
osBase path > str
osClean path > str
osDir path > str
osExt path > str
osIsAbs path > bool
pick dict str... > dict
pluck str dict dict > list
plural str str int > str
prepend seq any > list
print any... > str
printf format any... > str
println any... > str
push seq any > list
quote any... > str
regexFind pattern str > str
regexFindAll pattern str small > strs
regexMatch pattern str > bool
regexQuoteMeta str > str
regexReplaceAll pattern str repl > str
regexReplaceAllLiteral pattern str repl > str
regexSplit pattern str small > strs
repeat small str > str
replace str str str > str
rest seq > list
reverse seq > list
round num small > float
round num small float > float
semver version > ver
semverCompare range version > bool
seq small small > str
seq small > str
seq small small small > str
set dict str scalar > dict
sha1sum str > str
sha256sum str > str
sha512sum str > str
slice seq small small > any
slice seq small > any
snakecase str > str
sortAlpha seq > strs
split str str > smap
splitList str str > strs
splitn str small str > smap
squote any... > str
sub num num > i64
subf num num... > float
substr small small str > str
swapcase str > str
ternary any any bool > any
title str > str
toDate layout str > time
toDecimal num > i64
toHost url > str
toJson any > str
toPrettyJson any > str
toRawJson any > str
toString any > str
toStrings seq > strs
trim str > str
trimAll str str > str
trimall str str > str
trimPrefix str str > str
trimSuffix str str > str
trunc small str > str
trunc63 str > str
tuple any... > list
typeIs str any > bool
typeIsLike str any > bool
typeOf any > str
uniq seq > list
unixEpoch time > str
unset dict str > dict
until small > ints
untilStep small small small > ints
untitle str > str
upper str > str
urlJoin dict > str
urlParse url > dict
urlquery any > str
values dict > list
without seq any... > list
wrap small str > str
wrapWith small str str > str
hello > str
fail str > str
"""


@dataclass(frozen=True, slots=True)
class Signature:
    name: str
    places: tuple[str, ...]
    repeats: str | None
    result: str


def _parse(line: str) -> Signature:
    front, result = line.split(" >")
    name, *places = front.split()
    repeats = places.pop().removesuffix("...") if places and places[-1].endswith("...") else None
    return Signature(name, tuple(places), repeats, result.strip())


SIGNATURES = [_parse(line) for line in _TABLE.strip().splitlines()]

# Which results can stand in a place of a kind.
_FITS = {
    "num": {"int", "i64", "float"},
    "seq": {"list", "strs", "ints"},
    "scalar": {"str", "int", "i64", "float", "bool"},
    "when": {"time"},
    "path": {"str"},
    "url": {"str"},
}


def fitting(kind: str) -> list[Signature]:
    """Functions whose result is right for the place."""
    if kind == "any":
        return SIGNATURES
    wanted = _FITS.get(kind, {kind})
    return [s for s in SIGNATURES if s.result in wanted]


BY_KIND = {kind: fitting(kind) for kind in {s.result for s in SIGNATURES} | set(_FITS)}
