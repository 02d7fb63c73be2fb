"""For tests that crash an operator within their own process, many times (`steward.testkit.crash_in_process`)."""

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

CRASH_MARKS = [
    pytest.mark.timeout(1800),
    # A crashed operator may leave a socket or a coroutine behind, as a killed process does; they are collected later.
    pytest.mark.filterwarnings(
        r"ignore:Exception ignored in. <(function _(Selector|SSLProtocol)Transport.__del__|socket.socket|coroutine)"
        ":pytest.PytestUnraisableExceptionWarning"
    ),
]


class _ErrorRecorder(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.found.append(logging.Formatter().format(record))


@contextmanager
def no_logged_errors() -> Iterator[None]:
    """Fails if the operator logs a traceback."""
    errors = _ErrorRecorder()
    logging.getLogger("steward").addHandler(errors)
    try:
        yield
    finally:
        logging.getLogger("steward").removeHandler(errors)
        gc.collect()  # warnings about leaked resources are raised here and not in another test
    assert not errors.found, "\n".join(errors.found)
