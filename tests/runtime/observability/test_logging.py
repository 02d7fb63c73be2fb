import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from steward.kube.objects.kinds import Key
from steward.runtime.observability.logging import (
    JsonFormatter,
    ReconcileContext,
    TextFormatter,
    current_reconcile,
    formatter_for,
    set_up_logs,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def restore_root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


@pytest.fixture
def log(stream: io.StringIO) -> logging.Logger:
    return logger_to(stream, JsonFormatter())


def logger_to(stream: io.StringIO, formatter: logging.Formatter) -> logging.Logger:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    log = logging.Logger("steward.test")
    log.addHandler(handler)
    return log


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def reconcile_context() -> Iterator[ReconcileContext]:
    work = ReconcileContext("cell", "Cell", Key("shop", "zone-a"), 255)
    token = current_reconcile.set(work)
    yield work
    current_reconcile.reset(token)


def test_a_line_is_one_json_object_with_time_level_and_message(
    log: logging.Logger, stream: io.StringIO
) -> None:
    log.info("caches are %s", "synced", extra={"stores": 3})
    (line,) = lines(stream)
    assert (line["level"], line["msg"], line["stores"]) == ("info", "caches are synced", 3)
    assert line["ts"].endswith("Z")
    assert len(line["ts"]) == len("2026-01-02T03:04:05.678Z")


def test_a_line_of_a_reconcile_names_it(
    log: logging.Logger, stream: io.StringIO, reconcile_context: ReconcileContext
) -> None:
    log.info("applied")
    (line,) = lines(stream)
    assert line["controller"] == "cell"
    assert line["object"] == {"kind": "Cell", "namespace": "shop", "name": "zone-a"}
    assert line["reconcile_id"] == reconcile_context.reconcile_id
    assert line["reconcile_id"].endswith("-ff")


def test_an_error_is_logged_with_its_traceback_in_one_line(log: logging.Logger, stream: io.StringIO) -> None:
    try:
        raise RuntimeError("no room for password=hunter2")
    except RuntimeError:
        log.exception("reconcile failed")
    (line,) = lines(stream)
    assert line["error"].startswith("RuntimeError: no room")
    assert "test_logging.py" in line["traceback"]
    assert "hunter2" not in stream.getvalue()


def test_no_secret_is_logged_in_a_message_argument_or_field(log: logging.Logger, stream: io.StringIO) -> None:
    secret = {"kind": "Secret", "data": {"key": "aHVudGVyMg=="}}
    log.info("header Authorization: Bearer hunter2hunter2")
    log.info("object %s", secret)
    log.info("field", extra={"manifest": secret, "token": "hunter2hunter2"})
    assert "hunter2hunter2" not in stream.getvalue()
    assert "aHVudGVyMg==" not in stream.getvalue()


def test_values_that_json_cannot_encode_are_logged_as_text(log: logging.Logger, stream: io.StringIO) -> None:
    log.info("odd", extra={"what": {1, 2}.__class__})
    assert lines(stream)[0]["what"] == "<class 'set'>"


def test_a_level_that_is_off_costs_no_formatting(log: logging.Logger, stream: io.StringIO) -> None:
    class Costly:
        def __str__(self) -> str:
            raise AssertionError("formatted although the level is off")

    log.setLevel(logging.INFO)
    log.debug("%s", Costly())
    assert stream.getvalue() == ""


def test_on_a_terminal_a_line_is_readable_text(
    stream: io.StringIO, reconcile_context: ReconcileContext
) -> None:
    logger_to(stream, TextFormatter()).warning("drained", extra={"pods": 2})
    assert stream.getvalue().rstrip().endswith("WARNING cell shop/zone-a: drained pods=2")


@pytest.mark.parametrize(
    ("form", "stream", "expected"),
    [
        ("auto", Terminal(), TextFormatter),
        ("auto", io.StringIO(), JsonFormatter),
        ("json", Terminal(), JsonFormatter),
        ("text", io.StringIO(), TextFormatter),
    ],
)
def test_the_format_follows_the_stream_unless_it_is_named(
    form: str, stream: io.StringIO, expected: type[logging.Formatter]
) -> None:
    assert isinstance(formatter_for(form, stream), expected)


def test_libraries_log_warnings_only_and_our_loggers_use_the_configured_level(
    stream: io.StringIO, restore_root_logger: None
) -> None:
    set_up_logs("info", "json", stream)
    logging.getLogger("aiohttp.access").info("GET /")
    logging.getLogger("steward.x").debug("hidden")
    logging.getLogger("steward.x").info("shown")
    assert [line["msg"] for line in lines(stream)] == ["shown"]
