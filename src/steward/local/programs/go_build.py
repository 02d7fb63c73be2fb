"""Builds one program with Go and reports progress.

Two passes: `go list` fetches missing modules and counts the packages, `go build -v` names each compiled package. Go's
output on failure is turned into an error whose message names the cure.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from steward.local.errors import BuildError, CompileFailed, DiskFull, RegistryUnreachable
from steward.local.programs.programs import Program
from steward.local.progress import Progress, ProgressCount


@dataclass(frozen=True)
class Compilation:
    go: Path
    program: Program
    output: Path


async def compile_program(compilation: Compilation, progress: Progress) -> None:
    total = await _fetch_sources(compilation, progress)
    await _compile(compilation, total, progress)


async def _fetch_sources(compilation: Compilation, progress: Progress) -> int:
    """Fetch missing modules, and return the number of packages of the program."""
    program, fetched = compilation.program, 0
    activity = f"fetching the sources of {program.name} {program.version}"
    progress.report(activity)

    def on_line(line: str) -> None:
        nonlocal fetched
        if line.startswith("go: downloading "):
            fetched += 1
        progress.report(activity, ProgressCount(fetched, "modules"))

    packages = await _run_go(compilation, ["list", "-deps", *tag_flags(program), program.package], on_line)
    return len(packages.splitlines())


async def _compile(compilation: Compilation, total: int, progress: Progress) -> None:
    program, compiled = compilation.program, 0
    activity = f"building {program.name} {program.version}"
    progress.report(activity, ProgressCount(0, "packages", total))

    def on_line(line: str) -> None:
        nonlocal compiled
        # `-v` prints one package per line; lines with spaces are messages.
        compiled += " " not in line
        progress.report(activity, ProgressCount(compiled, "packages", total))

    arguments = ["build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", linker_flags(program)]
    arguments += tag_flags(program)
    await _run_go(compilation, [*arguments, "-o", str(compilation.output), program.package], on_line)


def tag_flags(program: Program) -> list[str]:
    return ["-tags", ",".join(program.tags)] if program.tags else []


def linker_flags(program: Program) -> str:
    return " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in program.variables)])


async def _run_go(compilation: Compilation, arguments: list[str], on_line: Callable[[str], None]) -> str:
    async with _go_process(compilation, arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        output, stderr_lines = await asyncio.gather(process.stdout.read(), _follow(process.stderr, on_line))
        code = await process.wait()
    if code:
        raise build_error(compilation.program, stderr_lines)
    return output.decode()


@asynccontextmanager
async def _go_process(
    compilation: Compilation, arguments: list[str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        compilation.go,
        *arguments,
        cwd=compilation.program.source,
        env=go_environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    except BaseException:
        # Compilers are children of Go: kill the process group, or Ctrl-C would leave them running.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise


def go_environment() -> dict[str, str]:
    """The user's environment, without the variables that would change the build result."""
    ours = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off", "GOTOOLCHAIN": "local"}
    dropped = {"GOOS", "GOARCH", "GOROOT", "GOEXPERIMENT"}
    return {name: value for name, value in os.environ.items() if name not in dropped} | ours


async def _follow(stream: asyncio.StreamReader, on_line: Callable[[str], None]) -> list[str]:
    """Call `on_line` for each line, and return the last ones, which hold the reason of a failure."""
    kept: list[str] = []
    async for raw in stream:
        line = raw.decode(errors="replace").rstrip()
        on_line(line)
        kept = [*kept[-39:], line]
    return kept


_UNREACHABLE = re.compile(
    r"dial tcp|no such host|connection refused|i/o timeout|TLS handshake|x509:|proxyconnect"
    r"|module lookup disabled|no route to host|network is unreachable|server misbehaving|\b(403|50[234]) "
)


def build_error(program: Program, stderr_lines: list[str]) -> BuildError | DiskFull:
    """The error with its cure, derived from the last lines of Go's stderr."""
    text = "\n".join(stderr_lines)
    what = f"{program.name} {program.version}"
    if "no space left on device" in text:
        return DiskFull(
            f"The disk became full while {what} was built: make room and run the same command again."
        )
    if _UNREACHABLE.search(text):
        reason = next(line for line in stderr_lines if _UNREACHABLE.search(line))
        return RegistryUnreachable(
            f"The sources of {what} cannot be fetched, because no Go module registry is reachable: connect this "
            f"machine to one, or set GOPROXY to a mirror that it can reach ({reason.strip()})."
        )
    if "signal: killed" in text:
        return CompileFailed(f"Building {what} ran out of memory: it needs about 3 GiB free.")
    last = [line for line in stderr_lines if " " in line][-3:]
    return CompileFailed(f"Building {what} failed; Go says: {' / '.join(last) or 'nothing'}")
