"""Builds and runs the image without a container engine: the steps of the Dockerfile in a separate root directory.

Python and system libraries are bind-mounted read-only in place of the base image. The Dockerfile writes to a temporary
directory, which is mounted read-only when the result runs. As with a container engine, a step whose instructions and
files are those of the last build is not run again: `LayerCache` has its result.
"""

import fcntl
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.paths import ROOT

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc")
_OWN = ("build", "opt", "tmp")
_INHERITED_VARIABLES = (
    "PIP_",
    "SSL_",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)


class Instruction(NamedTuple):
    keyword: str
    text: str


def instructions(dockerfile: str) -> list[list[Instruction]]:
    """Stages of a Dockerfile, each a list of instructions, without comments and line continuations."""
    lines = [line for line in dockerfile.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found = [Instruction(*line.split(maxsplit=1)) for line in joined.splitlines()]
    stages: list[list[Instruction]] = []
    for each in found:
        if each.keyword == "FROM":
            stages.append([])
        elif stages:
            stages[-1].append(each)
    return stages


class Layer(NamedTuple):
    """A step of the build; the digest is of all instructions and copied files up to it, and of the Python they use."""

    step: Instruction
    digest: str


def layers(steps: list[Instruction]) -> Iterator[Layer]:
    known = hashlib.sha256(f"{sys.version} {sys.base_prefix}".encode())
    for step in steps:
        known.update(f"\n{step.keyword} {step.text}".encode())
        for file in _copied_files(step):
            known.update(f"\n{file.relative_to(ROOT)} {file.stat().st_mode:o} ".encode() + file.read_bytes())
        yield Layer(step, known.hexdigest()[:16])


def _copied_files(step: Instruction) -> list[Path]:
    if step.keyword != "COPY":
        return []
    sources = [ROOT / source for source in step.text.split()[:-1]]
    found = [file for source in sources for file in (source.rglob("*") if source.is_dir() else [source])]
    return sorted(file for file in found if file.is_file() and "__pycache__" not in file.parts)


class LayerCache:
    """Directories as the steps of the last build left them, one for each digest."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Two test runs on one machine would delete the layers of each other."""
        with self._directory.with_suffix(".lock").open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def has(self, layer: Layer) -> bool:
        return (self._directory / layer.digest).exists()

    def restore(self, layer: Layer, into: Path) -> None:
        _checked(["cp", "-a", f"{self._directory / layer.digest}/.", str(into)])

    def store(self, layer: Layer, built: Path) -> None:
        with tempfile.TemporaryDirectory(dir=self._directory) as scratch:
            _checked(["cp", "-a", str(built), f"{scratch}/layer"])
            (Path(scratch) / "layer").rename(self._directory / layer.digest)

    def forget_others(self, used: list[Layer]) -> None:
        digests = {layer.digest for layer in used}
        for path in self._directory.iterdir():
            if path.name not in digests:
                shutil.rmtree(path)


class ImageRoot:
    """`build` runs the first stage; `command` starts the entry point of the last one."""

    def __init__(self, directory: Path, dockerfile: str) -> None:
        self._directory = directory
        self._build, self._image = instructions(dockerfile)
        for name in _OWN:
            (directory / name).mkdir(parents=True)

    @property
    def installed(self) -> Path:
        return self._directory / "opt"

    @property
    def scratch(self) -> Path:
        """`/tmp` inside; only steps of the build may write to it."""
        return self._directory / "tmp"

    @property
    def user(self) -> str:
        return self._instruction_text("USER")

    def _instruction_text(self, keyword: str) -> str:
        return next(each.text for each in self._image if each.keyword == keyword)

    def build(self, cache: LayerCache) -> None:
        with cache.locked():
            self._build_missing(cache)

    def _build_missing(self, cache: LayerCache) -> None:
        steps = list(layers(self._build))
        done = max((number for number, layer in enumerate(steps, 1) if cache.has(layer)), default=0)
        if done:
            cache.restore(steps[done - 1], self._directory)
        for layer in steps[done:]:
            self._execute(layer.step)
            if layer.step.keyword == "RUN":
                cache.store(layer, self._directory)
        cache.forget_others(steps)

    def _execute(self, step: Instruction) -> None:
        if step.keyword == "COPY":
            self._copy(step.text)
        elif step.keyword == "RUN":
            self._run_in_build(step.text)

    def _copy(self, text: str) -> None:
        *sources, target = text.split()
        for source in sources:
            into = self._directory / "build" / target
            place = into / Path(source).name if target.endswith("/") else into
            place.parent.mkdir(parents=True, exist_ok=True)
            _checked(["cp", "-r", str(ROOT / source), str(place)])

    def _run_in_build(self, script: str) -> None:
        base = f"{sys.base_prefix}/bin"
        settings = {"PATH": f"{base}:/usr/bin:/bin", "HOME": "/tmp"}
        settings |= {key: value for key, value in os.environ.items() if key.startswith(_INHERITED_VARIABLES)}
        exports = "".join(f"export {key}={shlex.quote(value)}; " for key, value in settings.items())
        _checked(self._inside(f"{exports}cd /build; {script}"))

    def command(self, *arguments: str) -> list[str]:
        """A command that starts the entry point as the user of the image, on a read-only root."""
        environ = self._instruction_text("ENV").replace("$PATH", "/usr/bin:/bin")
        entry = shlex.join([*json.loads(self._instruction_text("ENTRYPOINT")), *arguments])
        return self._inside(f"export {environ} HOME=/; exec {entry}", f"--userspec={self.user}")

    def _inside(self, script: str, user: str = "") -> list[str]:
        root = self._directory / "root"
        root.mkdir(exist_ok=True)
        system = [path for path in (*_SYSTEM, sys.base_prefix) if Path(path).exists()]
        own = {name: self._directory / name for name in _OWN}
        read_only = [*system, *(f"/{name}" for name in own if user)]
        steps = [
            "set -e",
            f"mount -t tmpfs none {root}",
            *(_bind(path, f"{root}{path}") for path in [*system, "/proc", "/dev"]),
            *(_bind(path, f"{root}/{name}") for name, path in own.items()),
            *(f"mount -o remount,bind,ro {root}{path}" for path in read_only),
            f"mount -o remount,ro {root}",
            f"exec chroot {user} {root} /bin/sh -ec {shlex.quote(script)}",
        ]
        return ["unshare", "--mount", "/bin/sh", "-c", "\n".join(steps)]


def _bind(source: Path | str, target: str) -> str:
    return f"mkdir -p {target}; mount --rbind {source} {target}"


def _checked(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, f"{command[-1][-300:]}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
