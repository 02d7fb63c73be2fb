"""What the fuzzer found, made small: each was once a difference. Added by `fuzz --keep`, never by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ..case import Case

_FILE = Path(__file__).with_name("found.jsonl")


def cases() -> Iterator[Case]:
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        tpl, data, opts = json.loads(line)
        yield Case("found", tpl, data, tuple((name, value) for name, value in opts))


def add(case: Case) -> None:
    if case not in set(cases()):
        with _FILE.open("a", encoding="utf-8") as lines:
            print(json.dumps([case.tpl, case.data, case.opts], ensure_ascii=False), file=lines)
