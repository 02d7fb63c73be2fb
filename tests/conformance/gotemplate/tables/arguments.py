"""Every function with every kind of wrong argument: each place in turn, too few, too many, and from a pipe.

A line below is a call that works; what is not there are the functions that take no argument.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case, case
from .grid import ODD, ODD_TYPED, lines

# In a call, a place is written `type:expression`; types are a (any), s (string), i (int), m (map), t (time), b (bool),
# f (float64), and a trailing `...` marks the place that may repeat.
CALLS = """
abbrev i:5 s:.s
abbrevboth i:5 i:10 s:.s
add a:.n a:1 ...
add1 a:.n
add1f a:.f
addf a:.f a:1.5 ...
adler32sum s:.s
all a:.n a:.s ...
any a:.n a:.s ...
append a:.list a:"x"
atoi s:"12"
b32dec s:"ME======"
b32enc s:.s
b64dec s:"YQ=="
b64enc s:.s
base s:.path
biggest a:.n a:9 ...
camelcase s:.s
cat a:.s a:.n ...
ceil a:.f
chunk i:2 a:.list
clean s:.path
coalesce a:.null a:.s ...
compact a:.mixed
concat a:.list a:.nums ...
contains s:"ell" s:.s
dateInZone s:"2006-01-02" a:(toDate~"2006-01-02"~"2024-02-29") s:"UTC"
dateModify s:"1h" t:(toDate~"2006-01-02"~"2024-02-29")
date_in_zone s:"2006-01-02" a:(toDate~"2006-01-02"~"2024-02-29") s:"UTC"
date_modify s:"1h" t:(toDate~"2006-01-02"~"2024-02-29")
deepCopy a:.m
deepEqual a:.list a:.list
default a:"d" a:.e
dict a:"k" a:.n ...
dig s:"c" s:"d" a:"x" m:.m
dir s:.path
div a:.n a:2
divf a:.n a:2
duration a:"95"
durationRound a:"90m"
empty a:.e
ext s:.path
fail s:"no"
first a:.list
float64 a:.n
floor a:.f
fromJson s:"[1]"
get m:.m s:"a"
has a:"a" a:.list
hasKey m:.m s:"a"
hasPrefix s:"he" s:.s
hasSuffix s:"ld" s:.s
html a:.html a:.n ...
indent i:2 s:.ml
index a:.m a:"a"
initial a:.list
initials s:.s
int a:.n
int64 a:.n
isAbs s:.path
join s:"-" a:.list
js a:.html a:.n ...
kebabcase s:.s
keys m:.m ...
kindIs s:"map" a:.m
kindOf a:.m
last a:.list
len a:.list
list a:.n a:.s ...
lower s:.s
max a:.n a:9 ...
maxf a:.n a:9 ...
merge m:(dict~"a"~1) m:.m ...
mergeOverwrite m:(dict~"a"~1) m:.m ...
min a:.n a:9 ...
minf a:.n a:9 ...
mod a:.n a:2
mul a:.n a:2 ...
mulf a:.n a:2 ...
must_date_modify s:"1h" t:(toDate~"2006-01-02"~"2024-02-29")
mustAppend a:.list a:"x"
mustChunk i:2 a:.list
mustCompact a:.mixed
mustDateModify s:"1h" t:(toDate~"2006-01-02"~"2024-02-29")
mustDeepCopy a:.m
mustFirst a:.list
mustFromJson s:"[1]"
mustHas a:"a" a:.list
mustInitial a:.list
mustLast a:.list
mustMerge m:(dict~"a"~1) m:.m ...
mustMergeOverwrite m:(dict~"a"~1) m:.m ...
mustPrepend a:.list a:"x"
mustPush a:.list a:"x"
mustRegexFind s:"l+" s:.s
mustRegexFindAll s:"l+" s:.s i:-1
mustRegexMatch s:"l+" s:.s
mustRegexReplaceAll s:"l+" s:.s s:"L"
mustRegexReplaceAllLiteral s:"l+" s:.s s:"L"
mustRegexSplit s:"l+" s:.s i:-1
mustRest a:.list
mustReverse a:.list
mustSlice a:.list a:1 a:2
mustToDate s:"2006" s:"2024"
mustToJson a:.m
mustToPrettyJson a:.m
mustToRawJson a:.m
mustUniq a:.dup
mustWithout a:.list a:"a" ...
nindent i:2 s:.ml
nospace s:.s
not a:.n
omit m:.m s:"a" ...
osBase s:.path
osClean s:.path
osDir s:.path
osExt s:.path
osIsAbs s:.path
pick m:.m s:"a" ...
pluck s:"a" m:.m ...
plural s:"one" s:"many" i:2
prepend a:.list a:"x"
print a:.n a:.s ...
printf s:"%v-%v" a:.n a:.s
println a:.n a:.s ...
push a:.list a:"x"
quote a:.s a:.n ...
regexFind s:"l+" s:.s
regexFindAll s:"l+" s:.s i:-1
regexMatch s:"l+" s:.s
regexQuoteMeta s:"a.b"
regexReplaceAll s:"l+" s:.s s:"L"
regexReplaceAllLiteral s:"l+" s:.s s:"L"
regexSplit s:"l+" s:.s i:-1
repeat i:2 s:.s
replace s:"l" s:"L" s:.s
rest a:.list
reverse a:.list
round a:.third i:2 f:0.5
semver s:"1.2.3"
semverCompare s:">1" s:"1.2.3"
seq i:1 i:3 ...
set m:(dict) s:"k" a:.n
sha1sum s:.s
sha256sum s:.s
sha512sum s:.s
slice a:.list a:1 a:2
snakecase s:.s
sortAlpha a:.list
split s:"o" s:.s
splitList s:"o" s:.s
splitn s:"o" i:2 s:.s
squote a:.s a:.n ...
sub a:.n a:2
subf a:.n a:2 ...
substr i:1 i:3 s:.s
swapcase s:.s
ternary a:"y" a:"n" b:true
title s:.s
toDate s:"2006" s:"2024"
toDecimal a:"777"
toHost s:.url
toJson a:.m
toPrettyJson a:.m
toRawJson a:.m
toString a:.n
toStrings a:.mixed
trim s:.pad
trimAll s:"h" s:.s
trimPrefix s:"he" s:.s
trimSuffix s:"ld" s:.s
trimall s:"h" s:.s
trunc i:3 s:.s
trunc63 s:.s
tuple a:.n a:.s ...
typeIs s:"string" a:.s
typeIsLike s:"string" a:.s
typeOf a:.s
uniq a:.dup
unixEpoch t:(toDate~"2006-01-02"~"2024-02-29")
unset m:(dict~"k"~1) s:"k"
until i:3
untilStep i:1 i:9 i:3
untitle s:"Hello"
upper s:.s
urlJoin m:(urlParse~.url)
urlParse s:.url
urlquery a:.html a:.n ...
values m:.m
without a:.list a:"a" ...
wrap i:5 s:.s
wrapWith i:5 s:"|" s:.s
"""

# These answer with the clock when the argument is no date, so only right arguments have one answer; see `dates`.
CLOCK_ON_WRONG_TYPE = {"dateInZone", "date_in_zone"}
DATE = '(toDate "2006-01-02" "2024-02-29")'
TIMES = {"(int64 3)", "-1", "9223372036854775807", "'a'", DATE}


def cases() -> Iterator[Case]:
    for text in lines(CALLS):
        name, *places = text.split()
        repeats = places[-1] == "..."
        kinds, values = _places(places[:-1] if repeats else places)
        yield from _counts(name, values)
        yield from _replaced(name, kinds, values)


def _places(places: list[str]) -> tuple[list[str], list[str]]:
    pairs = [place.split(":", 1) for place in places]
    return [kind for kind, _ in pairs], [value.replace("~", " ") for _, value in pairs]


def _counts(name: str, values: list[str]) -> Iterator[Case]:
    for count in range(len(values) + 1):
        yield _action(name, [name, *values[:count]])
    yield _action(name, [name, *values, values[-1]])
    *front, back = values
    yield _action(name, [back, "|", name, *front])
    yield _action(name, [back, "|", name, *values])
    yield _action(name, ["(", name, *values, ") | printf", '"%T %v"'])


def _replaced(name: str, kinds: list[str], values: list[str]) -> Iterator[Case]:
    for place, kind in enumerate(kinds):
        for odd in ODD if kind == "a" else ODD_TYPED:
            if not _reads_clock(name, kind, odd):
                yield _action(name, [name, *values[:place], odd, *values[place + 1 :]])


def _reads_clock(name: str, kind: str, odd: str) -> bool:
    if name == "durationRound":
        return odd == DATE
    return name in CLOCK_ON_WRONG_TYPE and kind == "a" and odd not in TIMES


def _action(name: str, words: list[str]) -> Case:
    return case(name, "{{ " + " ".join(words) + " }}")
