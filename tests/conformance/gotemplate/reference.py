"""Go's own engine as a long-lived process. It answers every case, in order, even when one of them kills it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from .case import HERE, Answer, Case, digest

SOURCE = HERE / "reference"
_BATCH = 500


@cache
def binary() -> Path | None:
    """The built program, or None where it cannot be built: no Go here, or no way to its modules."""
    go = shutil.which("go")
    if go is None:
        return None
    target = _cache_directory() / f"gotemplate-reference-{digest(_sources())}"
    return target if target.exists() or _build(go, target) else None


def required() -> Path:
    program = binary()
    if program is None:
        raise SystemExit("Go's engine is needed here: install Go, and let it reach the module registry")
    return program


class Engine(Protocol):
    """Whatever knows the right answers: Go itself, or its recorded answers."""

    def answers(self, cases: Sequence[Case]) -> list[Answer]: ...


class Reference:
    """Ask with `answers`; use as a context, so that the process ends."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._process = self._start()

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        found: list[Answer] = []
        while len(found) < len(cases):
            batch = cases[len(found) : len(found) + _BATCH]
            some = self._run_batch(batch)
            found += some
            if len(some) < len(batch):
                self._stop()
                self._process = self._start()
                # It ends by itself after an answer that came too late, since that template still runs.
                if not (some and some[-1].crash):
                    found.append(Answer(crash="the process died"))
        return found

    def _run_batch(self, batch: Sequence[Case]) -> list[Answer]:
        # A thread writes: the pipes are smaller than a batch, and both sides would wait for each other.
        writer = threading.Thread(target=self._feed, args=(batch,))
        writer.start()
        answers: list[Answer] = []
        assert self._process.stdout
        for _ in batch:
            line = self._process.stdout.readline()
            if not line:
                break
            answers.append(Answer.from_record(json.loads(line)))
        writer.join()
        return answers

    def _feed(self, batch: Sequence[Case]) -> None:
        assert self._process.stdin
        lines = "".join(c.line(n) for n, c in enumerate(batch))
        try:
            self._process.stdin.write(lines.encode("utf-8", "surrogatepass"))
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the reader sees the end of the output and starts anew

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen([self._program], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def _stop(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=60)


def _cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    directory = (Path(base) if base else Path.home() / ".cache") / "steward"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _sources() -> list[Path]:
    return [p for p in SOURCE.iterdir() if p.suffix in {".go", ".mod", ".sum"}]


def _build(go: str, target: Path) -> bool:
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        built = Path(scratch) / "reference"
        done = subprocess.run(
            [go, "build", "-o", built, "."], cwd=SOURCE, capture_output=True, check=False, timeout=900
        )
        if done.returncode == 0:
            built.replace(target)
    return done.returncode == 0
