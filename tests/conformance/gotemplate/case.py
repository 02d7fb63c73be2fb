"""A case is a template with its data and options; an answer is what an engine made of it. Plain values, both."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
FIXTURE: dict[str, Any] = json.loads((HERE / "fixture.json").read_text())
FIXTURE_TEXT = json.dumps(FIXTURE)
_GROUP_LINE = '{"group":'


@dataclass(frozen=True, slots=True)
class Case:
    """`data` is None for the shared fixture, so that recordings stay small; `opts` holds what is not a default."""

    group: str
    tpl: str
    data: str | None = None
    opts: tuple[tuple[str, str], ...] = ()

    def line(self, number: int) -> str:
        """The question to Go's engine; the text of the fixture, which most questions have, is made once."""
        data = FIXTURE_TEXT if self.data is None else json.dumps(json.loads(self.data))
        return (
            f'{{"id": {number}, "tpl": {json.dumps(self.tpl)}, "data": {data}, '
            f'"opts": {json.dumps(dict(self.opts))}}}\n'
        )

    def record(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"tpl": self.tpl}
        if self.data is not None:
            fields["data"] = json.loads(self.data)
        if self.opts:
            fields["opts"] = dict(self.opts)
        return fields


@dataclass(frozen=True, slots=True)
class Answer:
    """Bytes that were rendered, or the text of an error; `crash` is neither: Go panicked, or did not come back."""

    out: bytes | None = None
    err: str | None = None
    crash: str | None = field(default=None, compare=False)

    @staticmethod
    def from_record(line: dict[str, Any]) -> Answer:
        if line.get("crash"):
            return Answer(crash=line["err"])
        if "err" in line:
            return Answer(err=line["err"])
        if "out_b64" in line:
            return Answer(out=base64.b64decode(line["out_b64"]))
        return Answer(out=line["out"].encode())

    def record(self) -> dict[str, str]:
        if self.err is not None:
            return {"err": self.err}
        output = self.out or b""
        try:
            return {"out": output.decode()}
        except UnicodeDecodeError:
            return {"out_b64": base64.b64encode(output).decode()}

    def __str__(self) -> str:
        return " ".join(f"{name}: {text!r}" for name, text in self.record().items())


def case(group: str, tpl: str, data: Any = None, **opts: str) -> Case:
    """`data` is any JSON value; leave it out for the fixture."""
    text = None if data is None else json.dumps(data, ensure_ascii=False)
    return Case(group, tpl, text, tuple(sorted(opts.items())))


def read(path: Path) -> list[tuple[Case, Answer]]:
    """A line with a group alone names the group of the lines that follow: that saves a fifth of the file."""
    answered: list[tuple[Case, Answer]] = []
    group = ""
    with path.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if "group" in line:
                group = line["group"]
            else:
                answered.append((_case_of(group, line), Answer.from_record(line)))
    return answered


def read_groups(path: Path) -> list[str]:
    """The names of the groups alone: pytest collects the tests in each worker, and needs no more."""
    with path.open(encoding="utf-8") as lines:
        return list(
            dict.fromkeys(json.loads(line)["group"] for line in lines if line.startswith(_GROUP_LINE))
        )


def write(path: Path, answered: Iterable[tuple[Case, Answer]]) -> None:
    group = None
    with path.open("w", encoding="utf-8") as lines:
        for asked, answer in answered:
            if asked.group != group:
                group = asked.group
                print(_compact({"group": group}), file=lines)
            print(_compact(asked.record() | answer.record()), file=lines)


def digest(paths: Iterable[Path]) -> str:
    content = hashlib.sha256()
    for path in sorted(paths):
        content.update(path.name.encode() + b"\0" + path.read_bytes())
    return content.hexdigest()[:16]


def _case_of(group: str, line: dict[str, Any]) -> Case:
    data = json.dumps(line["data"], ensure_ascii=False) if "data" in line else None
    return Case(group, line["tpl"], data, tuple(sorted(line.get("opts", {}).items())))


def _compact(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
