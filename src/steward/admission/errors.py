"""What can go wrong in the admission package.

AdmissionError
  ReviewError                 a review that gets no verdict: HTTP status `code`, so that failurePolicy decides
    MalformedReviewError 400, NotAWebhookError 404, WrongMethodError 405, ReviewTooLargeError 413,
    BusyError 429 (Retry-After), HandlerFailedError 500, DeadlineError 500, ReviewTooDeepError 500
  ListenError (OSError)       an address cannot be listened on, or is none
"""


class AdmissionError(Exception):
    """Anything below."""


class ReviewError(AdmissionError):
    """A review that gets no verdict. The message is what the API server shows to the user."""

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


class BusyError(ReviewError):
    code = 429
    retry_after = 1


class HandlerFailedError(ReviewError):
    code = 500


class DeadlineError(ReviewError):
    # Not 504: the API server replaces the text of that one by a sentence of its own.
    code = 500


class ReviewTooDeepError(ReviewError):
    """Objects nested so deeply that nobody can walk them."""

    # Not 400: the API server shows the text of 500 alone.
    code = 500

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is nested too deeply: flatten it")


class ListenError(AdmissionError, OSError):
    """An address cannot be listened on, or is none."""
