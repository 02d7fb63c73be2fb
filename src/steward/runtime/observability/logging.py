"""Log lines: JSON on standard error, readable text on a terminal, without secrets.

Each line names the controller, the object, the reconcile and the trace: they come from the context of the worker that
logs, so callers do not pass them. Nothing is computed for a line whose level is disabled.
"""

from __future__ import annotations

import logging
import sys
import time
from contextvars import ContextVar
from typing import Any, NamedTuple, TextIO

import msgspec

from steward.kube.objects.kinds import Key
from steward.runtime.observability import tracing
from steward.runtime.observability.redaction import redact, redact_text

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
FORMATS = ("auto", "json", "text")

_NOISY = ("aiohttp.access", "asyncio", "urllib3", "opentelemetry")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class ReconcileContext(NamedTuple):
    """The reconcile that a worker runs: controller, object and number."""

    controller: str
    kind: str
    key: Key
    number: int

    @property
    def reconcile_id(self) -> str:
        return f"{_PROCESS:x}-{self.number:x}"


current_reconcile: ContextVar[ReconcileContext | None] = ContextVar("current_reconcile", default=None)

# Distinguishes the reconciles of two processes; made once, so that a reconcile only pays for a counter.
_PROCESS = time.time_ns() & 0xFFFFFFFF


class JsonFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__()
        self._encoder = msgspec.json.Encoder(enc_hook=str)

    def format(self, record: logging.LogRecord) -> str:
        line = {"ts": timestamp(record.created), "level": record.levelname.lower(), "msg": _message(record)}
        line |= {"logger": record.name} | _context() | _fields(record)
        if record.exc_info:
            line |= _error(record, self)
        return self._encoder.encode(line).decode()


class TextFormatter(logging.Formatter):
    """For terminals: time, level, controller and object, message, and all other fields as name=value."""

    def format(self, record: logging.LogRecord) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        reconcile = current_reconcile.get()
        prefix = f"{reconcile.controller} {reconcile.key}: " if reconcile is not None else ""
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        line = f"{clock} {record.levelname:<7} {prefix}{_message(record)}{fields}"
        if record.exc_info:
            line += "\n" + redact_text(self.formatException(record.exc_info))
        return line


def timestamp(seconds: float) -> str:
    milliseconds = int(seconds * 1000) % 1000
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{milliseconds:03d}Z"


def _message(record: logging.LogRecord) -> str:
    # Structures are redacted before they become text: a Secret's payload is easier to find in a dict.
    if isinstance(record.args, tuple):
        record.args = tuple(redact(arg) if isinstance(arg, dict | list) else arg for arg in record.args)
    return redact_text(record.getMessage())


def _context() -> dict[str, Any]:
    context: dict[str, Any] = {}
    reconcile = current_reconcile.get()
    if reconcile is not None:
        key = reconcile.key
        context = {
            "controller": reconcile.controller,
            "object": {"kind": reconcile.kind, "namespace": key.namespace, "name": key.name},
            "reconcile_id": reconcile.reconcile_id,
        }
    ids = tracing.current_ids()
    if ids is not None:
        context["trace_id"], context["span_id"] = ids
    return context


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    given = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    cleaned: dict[str, Any] = redact(given) if given else {}
    return cleaned


def _error(record: logging.LogRecord, formatter: logging.Formatter) -> dict[str, str]:
    assert record.exc_info
    error = record.exc_info[1]
    text = f"{type(error).__name__}: {error}"
    return {
        "error": redact_text(text),
        "traceback": redact_text(formatter.formatException(record.exc_info)),
    }


def formatter_for(name: str, stream: TextIO) -> logging.Formatter:
    """`auto` is text on a terminal and JSON everywhere else."""
    text = name == "text" or (name == "auto" and stream.isatty())
    return TextFormatter() if text else JsonFormatter()


def set_up_logs(level: str, form: str, stream: TextIO | None = None) -> None:
    """Sends all log lines of this process to one stream; libraries log warnings and errors only."""
    target = stream or sys.stderr
    handler = logging.StreamHandler(target)
    handler.setFormatter(formatter_for(form, target))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(LEVELS[level])
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
