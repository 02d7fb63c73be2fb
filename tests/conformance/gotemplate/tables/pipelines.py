"""Pipelines, field chains and calls: what may stand between two delimiters, and what may not."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions


def cases() -> Iterator[Case]:
    yield from actions("pipelines", PIPELINES)


PIPELINES = r"""
.s
.
$
(.s)
(.m).b
((.m).c).d
(.m.c).d
(index .people 0).name
(print "a").x
(first .list)
.s | upper
.s | upper | lower | title
.s | trunc 5 | upper | quote
1 | add 2 | mul 3
.s | print "a" "b"
print (print (print 1))
print (upper .s) (lower .s)
(.s | upper)
(.s | upper) | lower
.list | join ","
.list | first | upper
| upper
.s |
.s | | upper
.s || upper
.s | "a"
.s | .n
.s | 1
.s | $
.s | (upper)
.s | (print "a")
.s | nil
.s | true
1 | 2
"a" "b"
"a" | "b"
1 2
1 upper
.s upper
.s .n
.s 1
.m.a 1
.m 1
$ 1
. 1
true 1
nil
nil 1
nil | print
print nil
print | print
true
false
true | not
(true)
(nil)
(1 | add 1).x
upper
upper .s .s
upper 1
upper .n
nope
nope 1
.s | nope
.s | nope 1
print nope
print upper
print (upper)
print .s | upper .s
.nope
.nope.x
.m.nope
.m.c.nope
.m.c.d.nope
.m.b.nope
.n.x
.list.x
.t.x
.null.x
.e.x
. .s
..s
.s.
.1
.s.1
.-s
.é
.s-t
$.m.c.d
$.nope
$x
.m.a | add 1 | printf "%05d"
.list | has "a" | ternary "y" "n"
ternary "y" "n" .t
.t | ternary "y" "n"
.n | ternary "y" "n"
print 1 , 2
print 1; 2
print @ 1
print # 1
print & 1
print 1 = 2
print 1 := 2
print : 1
print \ 1
print é
é
print "a" 'b' `c` 1 1.0 true nil .s $
len "abc" | printf "%d" | len
if
else
end
break
continue
define
template
block
range
with
if .t
end end
print if
print end
print (if)
print range
.if
.end.range
(dict "if" 1).if
print break
print continue
"""
