"""sprig's lists, maps, defaults and reflection, through templates."""

import pytest

from steward.gotemplate import ExecError, parse
from steward.gotemplate.funcs.numbers.capacity import appended, grown


def render(source: str, **data: object) -> str:
    return parse(source).render(data)


def failure(source: str, **data: object) -> str:
    with pytest.raises(ExecError) as caught:
        render(source, **data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "{{ first (list 1 2) }}{{ last (list 1 2) }}{{ rest (list 1 2) }}{{ initial (list 1 2) }}",
            "12[2][1]",
        ),
        ("{{ rest (list) | toJson }}{{ concat | toJson }}{{ list | toJson }}", "nullnull[]"),
        ("{{ append (list 1) 2 }}{{ prepend (list 1) 2 }}{{ reverse (list 1 2) }}", "[1 2][2 1][2 1]"),
        ('{{ compact (list 0 1 "" nil false "a") }}{{ uniq (list 1 1.0 1 "1") }}', "[1 a][1 1 1]"),
        ("{{ has 1 (list 1.0) }}{{ has (list 1) (list (list 1)) }}{{ has 1 nil }}", "falsetruefalse"),
        ("{{ without (list 1 2 1.0) 1 }}{{ concat (list 1) (until 2) }}", "[2 1][1 0 1]"),
        ("{{ chunk 2 (list 1 2 3) | toJson }}", "[[1,2],[3]]"),
        ("{{ slice (list 1 2 3) 1 2 }}{{ slice (list) 0 1 }}", "[2]<no value>"),
        (
            "{{ until -3 }}{{ untilStep 0 5 2 }}{{ seq 0 }}|{{ seq 3 1 }}|{{ seq 1 2 5 }}",
            "[0 -1 -2][0 2 4]1 0|3 2 1|1 3 5",
        ),
        ('{{ dict "a" }}{{ dict 1 2 "b" nil | toJson }}', 'map[a:]{"1":2,"b":null}'),
        ('{{ keys (dict "b" 1 "a" 2) }}{{ values (dict "b" 1 "a" 2) }}', "[a b][2 1]"),
        ('{{ pick (dict "a" 1 "b" 2) "a" "z" }}{{ omit (dict "a" 1 "b" 2) "a" }}', "map[a:1]map[b:2]"),
        ('{{ pluck "a" (dict "a" 1) (dict) (dict "a" nil) | toJson }}', "[1,null]"),
        ('{{ get (dict "a" 1) "b" }}|{{ hasKey (dict "a" nil) "a" }}', "|true"),
        ('{{ dig "a" "b" 9 (dict "a" (dict "b" nil)) }}{{ dig "x" "y" 9 (dict) }}', "<no value>9"),
        ("{{ default 1 0 }}{{ default 1 2 }}{{ default 1 }}{{ coalesce 0 nil 3 }}", "1213"),
        ('{{ empty 0.0 }}{{ empty (semver "1") }}{{ all 1 "" }}{{ any 0 "x" }}', "truefalsefalsetrue"),
        (
            '{{ typeOf (int64 1) }} {{ kindOf nil }} {{ typeOf nil }} {{ typeIsLike "semver.Version" (semver "1") }}',
            "int64 invalid <nil> true",
        ),
        (
            "{{ deepEqual (list 1) (list 1) }}{{ deepEqual (list) (rest (list)) }}{{ deepEqual 1 1.0 }}",
            "truefalsefalse",
        ),
        ("{{ ternary 1 2 true }}", "1"),
    ],
)
def test_results(source: str, text: str) -> None:
    assert render(source) == text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('{{ first "x" }}', "error calling first: Cannot find first on type string"),
        ("{{ mustLast 1 }}", "error calling mustLast: Cannot find last on type int"),
        ("{{ append (dict) 1 }}", "error calling append: Cannot push on type map"),
        ("{{ first nil }}", "runtime error: invalid memory address or nil pointer dereference"),
        ("{{ concat 1 }}", "error calling concat: Cannot concat type int as list"),
        ("{{ chunk 0 (list 1) }}", "runtime error: makeslice: len out of range"),
        ("{{ slice (list 1) 0 2 }}", "reflect.Value.Slice: slice index out of bounds"),
        ('{{ slice "abc" 1 }}', "list should be type of slice or array but string"),
        ('{{ dig "a" }}', "dig needs at least three arguments"),
        (
            '{{ dig "a" "b" 1 (dict "a" 2) }}',
            "interface conversion: interface {} is int, not map[string]interface {}",
        ),
        ('{{ set nil "a" 1 }}', "assignment to entry in nil map"),
        ("{{ deepCopy nil }}", "reflect: call of reflect.Value.Type on zero Value"),
    ],
)
def test_failures_have_go_words(source: str, words: str) -> None:
    assert failure(source).endswith(words)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('{{ merge (dict "a" 0 "b" 1) (dict "a" 5 "b" 6 "c" 7) | toJson }}', '{"a":5,"b":1,"c":7}'),
        ('{{ mergeOverwrite (dict "a" 1 "b" 2) (dict "a" 0 "b" nil) | toJson }}', '{"a":0,"b":null}'),
        (
            '{{ $s := dict "n" (dict) }}{{ $d := merge (dict) $s }}{{ $_ := set $d.n "x" 1 }}{{ $s | toJson }}',
            '{"n":{"x":1}}',
        ),
        (
            '{{ $s := dict "n" (dict "a" 1) }}{{ $d := merge (dict "n" (dict)) $s }}'
            '{{ $_ := set $d.n "x" 1 }}{{ $s | toJson }}',
            '{"n":{"a":1}}',
        ),
        (
            '{{ $a := dict "n" (dict) }}{{ $b := deepCopy $a }}{{ $_ := set $b.n "x" 1 }}{{ $a | toJson }}',
            '{"n":{}}',
        ),
        ('{{ merge (dict "v" (semver "1")) (dict "v" (dict "a" 1)) }}', ""),
    ],
)
def test_merging_shares_and_copies_as_mergo_does(source: str, text: str) -> None:
    assert render(source) == text


def test_slices_reach_into_the_room_that_go_left() -> None:
    data = ["b", "a", "c"]
    assert render("{{ slice .l 0 4 }}", l=data) == "[b a c <nil>]"
    assert render("{{ slice (until 5) 0 7 }}") == "[0 1 2 3 4 0 0]"
    assert render("{{ slice (slice .l 0 1) 0 3 }}", l=data) == "[b a c]"
    assert "out of bounds" in failure("{{ slice .l 0 5 }}", l=data)


def test_capacities_double_and_then_grow_by_size_classes() -> None:
    assert [grown(length) for length in (0, 1, 3, 5, 9, 33)] == [0, 1, 4, 8, 16, 71]
    assert [grown(length, 8) for length in (3, 33, 257, 513)] == [4, 64, 512, 848]
    assert [appended(capacity) for capacity in (3, 17)] == [6, 35]
