"""Builds and runs the image without a container engine: the steps of the Dockerfile in a separate root directory.

Python and system libraries are bind-mounted read-only in place of the base image. The Dockerfile writes to a temporary
directory, which is mounted read-only when the result runs.
"""

import json
import os
import shlex
import subprocess
import sys
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

    def build(self) -> None:
        for each in self._build:
            if each.keyword == "COPY":
                self._copy(each.text)
            elif each.keyword == "RUN":
                self._run_in_build(each.text)

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
