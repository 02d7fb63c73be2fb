"""What it means that no answer came, whatever carried the request. Pure.

The question that matters is whether the request can have had an effect. It cannot before it was sent, and a read
has none; everything else is ambiguous.
"""

import ssl

from msgspec import Struct

from steward.kube.errors import Timeout, TlsError, TransportError, Unreachable
from steward.kube.transport.request import Effect, Request


class Silence(Struct, frozen=True):
    """Why there is none."""

    cause: Exception
    """What happened, without what an HTTP client wrapped around it."""
    sent: bool
    """Whether the request had left when it happened."""
    told: str = ""
    """In better words than the cause's own."""
    by_proxy: bool = False


def no_answer(silence: Silence, request: Request, host: str) -> TransportError:
    asked = f"{request.method} {request.path}"
    reason = reason_of(silence)
    if _is_about_tls(silence):
        return TlsError(f"TLS with {host} failed: {reason}. {_cure(silence.cause)}")
    ambiguous = silence.sent and request.effect is not Effect.READ
    if isinstance(silence.cause, TimeoutError):
        return Timeout(f"{asked} at {host} got no answer in time{_doubt(ambiguous)}", ambiguous)
    if silence.sent:
        return Timeout(f"{asked} at {host} lost its connection ({reason}){_doubt(ambiguous)}", ambiguous)
    if silence.by_proxy:
        return Unreachable(f"the proxy did not connect us to {host}: {reason}")
    return Unreachable(f"cannot reach {host}: {reason}")


def reason_of(silence: Silence) -> str:
    return silence.told or str(silence.cause) or type(silence.cause).__name__


def _is_about_tls(silence: Silence) -> bool:
    """A handshake that failed on its merits; with TLS 1.3 the server's verdict may come after the request."""
    cause = silence.cause
    if not isinstance(cause, ssl.SSLError) or isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return False
    return not silence.sent or "ALERT" in (cause.reason or "")


def _cure(cause: Exception) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        text = str(cause)
        if "mismatch" in text or "not valid for" in text:
            return "Set tls-server-name to a name that the server's certificate holds"
        return "Check certificate-authority of this cluster"
    return "Check the client certificate, and that the address is that of a TLS server"


def _doubt(ambiguous: bool) -> str:
    return "; the server may have carried it out" if ambiguous else ""
