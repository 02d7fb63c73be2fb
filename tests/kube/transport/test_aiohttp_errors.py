import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from steward.kube.errors import Timeout, TlsError, TransportError, Unreachable
from steward.kube.transport.aiohttp_errors import to_transport_error
from steward.kube.transport.request import Effect, Request

READ = Request(method="GET", path="/a")
WRITE = Request(method="POST", path="/a", effect=Effect.WRITE)
KEY = ConnectionKey("h", 1, True, True, None, None, None)


def tls(error: ssl.SSLError) -> aiohttp.ClientConnectorSSLError:
    return aiohttp.ClientConnectorSSLError(KEY, error)


def alert() -> ssl.SSLError:
    error = ssl.SSLError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required")
    error.reason = "TLSV13_ALERT_CERTIFICATE_REQUIRED"
    return error


@pytest.mark.parametrize(
    ("error", "sent", "expected"),
    [
        (aiohttp.ClientConnectorError(KEY, OSError(111, "Connection refused")), False, Unreachable),
        (aiohttp.ServerDisconnectedError(), False, Unreachable),
        (aiohttp.ServerDisconnectedError(), True, Timeout),
        (aiohttp.ClientPayloadError("cut"), True, Timeout),
        (ConnectionResetError(104, "reset"), True, Timeout),
        (TimeoutError(), False, Timeout),
        (TimeoutError(), True, Timeout),
        (tls(ssl.SSLError(1, "wrong version number")), False, TlsError),
        (tls(ssl.SSLEOFError(8, "EOF")), False, Unreachable),
        (alert(), True, TlsError),
    ],
    ids=repr,
)
def test_aiohttp_exceptions_become_kube_errors(
    error: Exception, sent: bool, expected: type[TransportError]
) -> None:
    assert type(to_transport_error(error, WRITE, "h:1", sent)) is expected


@pytest.mark.parametrize(
    ("request_", "sent", "ambiguous"), [(WRITE, True, True), (WRITE, False, False), (READ, True, False)]
)
def test_only_a_write_that_was_sent_is_ambiguous(request_: Request, sent: bool, ambiguous: bool) -> None:
    failure = to_transport_error(TimeoutError(), request_, "h:1", sent)
    assert isinstance(failure, Timeout)
    assert failure.ambiguous is ambiguous
    assert ("may have carried it out" in str(failure)) is ambiguous


def test_a_message_names_the_call_and_the_server() -> None:
    failure = to_transport_error(ConnectionResetError(104, "reset"), WRITE, "api:6443", sent=True)
    assert str(failure).startswith("POST /a at api:6443 lost its connection ([Errno 104] reset)")
