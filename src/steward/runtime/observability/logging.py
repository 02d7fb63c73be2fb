"""Log lines: JSON on standard error, readable text on a terminal, and never a secret.

A line says by itself what it is about: the controller, the object, the reconcile and the trace come from the context
of the worker that writes it, so no caller passes them along. Nothing is computed for a line whose level is off.
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


class Work(NamedTuple):
    """What a worker has in hand: which controller, which object, and the number of this reconcile."""

    controller: str
    kind: str
    key: Key
    number: int

    @property
    def reconcile_id(self) -> str:
        return f"{_PROCESS:x}-{self.number:x}"


work_in_hand: ContextVar[Work | None] = ContextVar("work_in_hand", default=None)

# Tells reconciles of two lives of a process apart; made once, so that a reconcile pays for a counter only.
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
    """For people: the time, the level, what it is about, what happened, and the rest as name=value."""

    def format(self, record: logging.LogRecord) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        work = work_in_hand.get()
        about = f"{work.controller} {work.key}: " if work is not None else ""
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        line = f"{clock} {record.levelname:<7} {about}{_message(record)}{fields}"
        if record.exc_info:
            line += "\n" + redact_text(self.formatException(record.exc_info))
        return line


def timestamp(seconds: float) -> str:
    milliseconds = int(seconds * 1000) % 1000
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{milliseconds:03d}Z"


def _message(record: logging.LogRecord) -> str:
    # Structures are cleaned before they become text: a Secret's payload is easier to find in a dict.
    if isinstance(record.args, tuple):
        record.args = tuple(redact(arg) if isinstance(arg, dict | list) else arg for arg in record.args)
    return redact_text(record.getMessage())


def _context() -> dict[str, Any]:
    context: dict[str, Any] = {}
    work = work_in_hand.get()
    if work is not None:
        named = {"kind": work.kind, "namespace": work.key.namespace, "name": work.key.name}
        context = {"controller": work.controller, "object": named, "reconcile_id": work.reconcile_id}
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
    """Everything that this process logs goes to one stream; libraries speak up only when something is wrong."""
    target = stream or sys.stderr
    handler = logging.StreamHandler(target)
    handler.setFormatter(formatter_for(form, target))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(LEVELS[level])
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
