"""One operator of a life as a supervised process: killed, paused and started again, as a Deployment would.

Every process has its own log. The kernel kills the processes with the test run.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from steward.install.values import Values
from steward.local import exec_shim, ports
from steward.testkit import CrashPoint, FaultProxy, Match, kill, kill_at_write

END_SECONDS = 60.0
WRITE_SECONDS = 4.0
TAKEOVER_SECONDS = 60.0
LEASE = {"lease_duration": "6s", "renew_deadline": "4s", "retry_period": "1s"}
LEADING = '"msg":"leading"'
LEASE_LOST = "was lost"
# Events and leases are no crash points: nothing depends on them.
CHANGES = Match(write=True, path=r"^(?!.*/(events|leases)(/|\?|$))")


@dataclass
class OperatorRun:
    """One process: its log, and its peak memory once it has ended."""

    process: asyncio.subprocess.Process
    log: Path
    metrics_port: int
    peak_kib: int = 0
    was_ended: bool = False
    """Killed or terminated by an action."""

    @property
    def is_running(self) -> bool:
        return self.process.returncode is None

    def note_memory(self) -> None:
        with suppress(OSError):
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    self.peak_kib = max(self.peak_kib, int(line.split()[1]))


@dataclass
class SupervisedOperator:
    word: str
    proxy: FaultProxy
    directory: Path
    namespaces: tuple[str, ...]
    token: str
    settings: Mapping[str, str]
    elects: bool = False
    runs: list[OperatorRun] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Ends that no action caused."""
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def start(self) -> OperatorRun:
        number = len(self.runs) + 1
        log, [port] = self.directory / f"operator-{number}.log", ports.free_ports(1)
        command = [str(Path(sys.executable).parent / "steward"), "run", self.word]
        shim = [sys.executable, "-I", "-S", exec_shim.__file__, f"{log}.pid", str(log), str(os.getpid())]
        process = await asyncio.create_subprocess_exec(*shim, *command, env=self._environment(port))
        self.runs.append(OperatorRun(process, log, port))
        return self.runs[-1]

    async def ensure_running(self) -> None:
        """Start one if none runs. A leader that lost its lease has exited by itself; any other end is a problem."""
        async with self._starting:
            if any(run.is_running for run in self.runs):
                return
            if self.runs and not self._may_have_ended(self.runs[-1]):
                self.problems.append(
                    f"{self.runs[-1].log.name}: the operator exited by itself: {_tail(self.runs[-1].log)}"
                )
            await self.start()

    @asynccontextmanager
    async def kept_running(self) -> AsyncIterator[None]:
        """Start it again whenever it ends: on a slow machine a leader may lose its lease without any fault."""
        task = asyncio.create_task(self._keep_running())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _keep_running(self) -> None:
        while True:
            await self.ensure_running()
            await asyncio.sleep(1.0)

    async def kill_at(self, point: CrashPoint) -> None:
        """Kill it at this write; after a while if it does not write."""
        await self.ensure_running()
        run = self.runs[-1]
        run.note_memory()
        run.was_ended = True
        await kill_at_write(run.process, self.proxy, point, asyncio.sleep(WRITE_SECONDS))
        await kill(run.process)

    async def pause_beyond_lease(self) -> None:
        """Pause the leader until its successor leads, then resume it: it must not write any more."""
        await self.ensure_running()
        paused = self.runs[-1]
        await self._wait_until_leading(paused)
        os.kill(paused.process.pid, signal.SIGSTOP)
        successor = await self.start()
        try:
            await self._wait_until_leading(successor)
        finally:
            os.kill(paused.process.pid, signal.SIGCONT)
        await self._wait_for_end(paused)

    async def stop(self) -> None:
        """Terminate all processes in order."""
        for run in self.runs:
            if run.is_running:
                run.note_memory()
                run.was_ended = True
                run.process.terminate()
                await self._wait_for_end(run)

    def peak_kib(self) -> int:
        for run in self.runs:
            run.note_memory()
        return max((run.peak_kib for run in self.runs), default=0)

    async def _wait_for_end(self, run: OperatorRun) -> None:
        try:
            await asyncio.wait_for(run.process.wait(), END_SECONDS)
        except TimeoutError:
            self.problems.append(f"{run.log.name}: the operator did not end within {END_SECONDS:.0f} s")
            await kill(run.process)

    async def _wait_until_leading(self, run: OperatorRun) -> None:
        try:
            async with asyncio.timeout(TAKEOVER_SECONDS):
                while LEADING not in _read(run.log):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            self.problems.append(f"{run.log.name}: it did not lead within {TAKEOVER_SECONDS:.0f} s")

    def _may_have_ended(self, run: OperatorRun) -> bool:
        """Whether an action ended it, or the loss of its lease."""
        return run.was_ended or run.process.returncode == 0 or LEASE_LOST in _tail(run.log)

    def _environment(self, metrics_port: int) -> dict[str, str]:
        kubeconfig = self.proxy.write_kubeconfig(self.directory / "kubeconfig", self.token)
        settings = {
            "namespaces": ",".join(self.namespaces),
            "namespace": Values().namespace,
            "leader_elect": str(self.elects).lower(),
            "lease_name": f"chaos-{self.namespaces[0]}",
            "metrics_bind_address": f"127.0.0.1:{metrics_port}",
            "metrics_secure": "false",
            "health_probe_bind_address": "0",
            "webhooks": "off",
            "log_format": "json",
            **LEASE,
            **self.settings,
        }
        variables = {f"STEWARD_{name.upper()}": value for name, value in settings.items()}
        return {**os.environ, **variables, "KUBECONFIG": str(kubeconfig)}


def _read(log: Path) -> str:
    return log.read_text(errors="replace") if log.exists() else ""


def _tail(log: Path) -> str:
    return _read(log)[-600:]
