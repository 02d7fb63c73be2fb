"""Masterminds' semver: versions, ranges, prereleases, and the words of its errors."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call

VERSIONS = [
    "1.2.3", "v1.2.3", "1.2", "1", "v1", "1.2.3-alpha", "1.2.3-alpha.1", "1.2.3-0.3.7", "1.2.3-x.7.z.92", "1.2.3+build", "1.2.3-rc.1+build.5", "01.2.3",
    "1.02.3", "1.2.03", "1.2.3-01", "1.2.3-a.01", "", "x", "1.x", "1.2.3.4", "1.2.3-", "1.2.3+", "-1.2.3", "1.2.-3", "V1.2.3", " 1.2.3", "1.2.3 ", "1..3", "99999999999999999999.0.0",
    "18446744073709551615.0.0", "1.2.3-é", "1.2.3-a_b", "1.2-alpha", "1-alpha", "1.2+b", "0.0.0", "1.2.3-alpha..1", "1.2.3+a+b", "vv1", "1.2.3-+b", "1.2.3--1", "latest",
]  # fmt: skip
CONSTRAINTS = [
    "1.2.3", "=1.2.3", "== 1.2.3", "!=1.2.3", ">1.2.2", "<1.2.4", ">=1.2.3", "=>1.2.3", "<=1.2.3", "=<1.2.3", "~1.2.3", "~1.2", "~1", "~>1.2", "^1.2.3", "^1.2", "^1", "^0.2.3", "^0.0.3", "^0",
    "1.2.x", "1.x", "1.X.x", "*", "x", "1.2.*", ">1.2.x", "<1.2.x", ">=1.x", "<=1.x", "!=1.x", "~1.x", "^1.x", ">=1.0 <2.0", ">=1.0, <2.0", ">=1.0,<2.0", "<1.0 || >1.2", "1.0 - 2.0", "1.2.3 - 1.2.5", "1.2 - 1.4",
    ">=1.2.3-0", ">1.2.3-alpha", "^1.2.3-alpha", "~1.2.3-beta", "=1.2.3-alpha", "", " ", ">", "=", "a", ">=a", "1.2.3.4", ">= 1.2.3 ", "> 1 < 2", "1 || 2 || ", "||", ">=1.0 ,, <2", "=v1.2.3", ">=v1", "!1", "1.2.3 1.2.4", "< 1.2.3, > 1.0.0 || ^3",
    ">1", "<2", ">=2-0", "^2.x", "~0", ">*", "<*", "!=*", "=*", ">=*", "~*", "^*", "^", "~",
]  # fmt: skip
CHECKED = ["1.2.3", "1.2.3-alpha", "2.0.0", "0.2.5", "1.0.0", "1.2.4-rc.1"]


def cases() -> Iterator[Case]:
    yield from call("semver", [f'"{v}"' for v in VERSIONS])
    yield from call("semverCompare", [f'"{c}"' for c in CONSTRAINTS], [f'"{v}"' for v in CHECKED])
    yield from call("semverCompare", ['">=1.0"'], [f'"{v}"' for v in VERSIONS])
    yield from actions("semvers", MORE)


MORE = r"""
semver "1.2.3-alpha.1+x" | printf "%v %s"
(semver "1.2.3").Compare (semver "1.2.3-alpha")
(semver "1.2.3-alpha").Compare (semver "1.2.3-alpha.1")
(semver "1.2.3-alpha.10").Compare (semver "1.2.3-alpha.9")
(semver "1.2.3-1").Compare (semver "1.2.3-a")
(semver "1.2.3+a").Compare (semver "1.2.3+b")
(semver "1.2.3+a").Equal (semver "1.2.3+b")
semverCompare "^1.2.0" "v1.4" | ternary "new" "old"
semverCompare ">=1.2-0" "1.3.0-beta"
semverCompare "^1.2.0" (semver "1.3.0")
semverCompare 1 "1"
semverCompare "1" 1
semverCompare nil "1"
eq (semver "1.2.3") (semver "1.2.3")
$v := semver "1.2.3" }}{{ eq $v $v
"""
