"""Turns failures without a response into errors, for any HTTP client. Pure.

The caller must know whether the request can have had an effect. It cannot have had one before it was sent, and a read
has none; everything else is ambiguous.
"""

import ssl

from msgspec import Struct

from steward.kube.errors import Timeout, TlsError, TransportError, Unreachable
from steward.kube.transport.request import Effect, Request


class NetworkFailure(Struct, frozen=True):
    """Why there is no response."""

    cause: Exception
    """The original exception, without the wrapper of the HTTP client."""
    sent: bool
    """Whether the request had been sent when it happened."""
    message: str = ""
    """Replaces the text of the cause."""
    by_proxy: bool = False


def transport_error(failure: NetworkFailure, request: Request, host: str) -> TransportError:
    call = f"{request.method} {request.path}"
    reason = failure_reason(failure)
    if _is_about_tls(failure):
        return TlsError(f"TLS with {host} failed: {reason}. {_cure(failure.cause)}")
    ambiguous = failure.sent and request.effect is not Effect.READ
    if isinstance(failure.cause, TimeoutError):
        return Timeout(f"{call} at {host} got no answer in time{_ambiguity_note(ambiguous)}", ambiguous)
    if failure.sent:
        return Timeout(
            f"{call} at {host} lost its connection ({reason}){_ambiguity_note(ambiguous)}", ambiguous
        )
    if failure.by_proxy:
        return Unreachable(f"the proxy did not connect us to {host}: {reason}")
    return Unreachable(f"cannot reach {host}: {reason}")


def failure_reason(failure: NetworkFailure) -> str:
    return failure.message or str(failure.cause) or type(failure.cause).__name__


def _is_about_tls(failure: NetworkFailure) -> bool:
    """Whether the handshake itself failed. With TLS 1.3 the server's alert may arrive after the request was sent."""
    cause = failure.cause
    if not isinstance(cause, ssl.SSLError) or isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return False
    return not failure.sent or "ALERT" in (cause.reason or "")


def _cure(cause: Exception) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        text = str(cause)
        if "mismatch" in text or "not valid for" in text:
            return "Set tls-server-name to a name that the server's certificate holds"
        return "Check certificate-authority of this cluster"
    return "Check the client certificate, and that the address is that of a TLS server"


def _ambiguity_note(ambiguous: bool) -> str:
    return "; the server may have carried it out" if ambiguous else ""
