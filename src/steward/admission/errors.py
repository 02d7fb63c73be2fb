"""Errors of the admission package.

AdmissionError
  ReviewError                 a review without a response: HTTP status `code`, so that failurePolicy decides
    MalformedReviewError 400, NotAWebhookError 404, WrongMethodError 405, ReviewTooLargeError 413,
    EncodedBodyError 415, BusyError 429 (Retry-After), HandlerFailedError 500, DeadlineError 500, ReviewTooDeepError 500
  ListenError (OSError)       cannot listen on an address, or it is invalid
"""


class AdmissionError(Exception):
    """Base class of the errors below."""


class ReviewError(AdmissionError):
    """A review without a response. The API server shows the message to its user."""

    code = 500
    retry_after: int | None = None


class MalformedReviewError(ReviewError):
    code = 400


class NotAWebhookError(ReviewError):
    code = 404


class WrongMethodError(ReviewError):
    code = 405


class ReviewTooLargeError(ReviewError):
    code = 413


class EncodedBodyError(ReviewError):
    code = 415


class BusyError(ReviewError):
    code = 429
    retry_after = 1


class HandlerFailedError(ReviewError):
    code = 500


class DeadlineError(ReviewError):
    # Not 504: the API server replaces the message of a 504.
    code = 500


class ReviewTooDeepError(ReviewError):
    """The object is nested too deeply to be processed."""

    # Not 400: the API server shows only the message of a 500.
    code = 500

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is nested too deeply: flatten it")


class ListenError(AdmissionError, OSError):
    """Cannot listen on an address, or it is invalid."""
