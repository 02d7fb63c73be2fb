"""An operator as its own process, as in production, for the stories of both operators."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

_END_SECONDS = 90


class Operator(NamedTuple):
    """Which operator, as whom, and where it works: in one namespace, so that tests can run side by side."""

    word: str
    kubeconfig: Path
    namespace: str
    log: Path
    flags: tuple[str, ...] = ()


@contextmanager
def running(operator: Operator, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """It must end in order, and its log must hold no traceback."""
    environment = os.environ | {
        "KUBECONFIG": str(operator.kubeconfig),
        "STEWARD_NAMESPACES": operator.namespace,
        "STEWARD_LEADER_ELECT": "false",
        "STEWARD_METRICS_BIND_ADDRESS": "0",
        "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
        **{f"STEWARD_{name.upper()}": value for name, value in settings.items()},
    }
    with operator.log.open("wb") as output:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "steward"), "run", operator.word, *operator.flags],
            env=environment,
            stdout=output,
            stderr=output,
        )
        try:
            yield process
        finally:
            process.terminate()
            code = process.wait(timeout=_END_SECONDS)
    text = operator.log.read_text()
    # A story that was over before the operator had begun has ended a bare interpreter, which knows no order.
    has_begun = code != -signal.SIGTERM or text != ""
    assert code == 0 or not has_begun, text
    assert "Traceback" not in text, text


@asynccontextmanager
async def running_aside(operator: Operator, **settings: str) -> AsyncIterator[None]:
    """The same for an operator that speaks through a proxy of this very process, which must not stand still."""
    process = running(operator, **settings)
    await asyncio.to_thread(process.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(process.__exit__, None, None, None)
