"""Errors of the multiadmin client.

MultiadminError
  Unreachable      no response: connection refused, unknown host name, timeout
  RequestRejected  an error response, with its gRPC status code and multiadmin's own sentence
  MalformedAnswer  a response that multiadmin does not send: a redirect, too many bytes, another JSON document

Only the sentence of a RequestRejected holds bytes of a response, shortened and without control characters: it says why
a switch of the primary was refused or a backup failed.
"""

INTERNAL, UNAVAILABLE = 13, 14
NOT_FOUND, FAILED_PRECONDITION = 5, 9
DEAD_CONNECTION = ("no route to host", "connection refused", "connection reset")


def names_dead_connection(sentence: str) -> bool:
    """Whether multiadmin says that it could not reach a pooler: it keeps connections to pods that no longer exist."""
    return any(words in sentence for words in DEAD_CONNECTION)


class MultiadminError(Exception):
    """Base class of the errors below; the message names the server."""


class Unreachable(MultiadminError):
    """The server did not respond."""


class RequestRejected(MultiadminError):
    """The server responded with an error. `code` is a status code of gRPC, 0 if the response has none."""

    def __init__(self, message: str, code: int = 0, sentence: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.sentence = sentence


class MalformedAnswer(MultiadminError):
    """The server responded with something that is no answer of multiadmin."""
