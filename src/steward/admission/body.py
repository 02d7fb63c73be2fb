"""Reads the bodies of reviews within one budget of memory for all of them.

A body counts while it arrives, and what decoding it will take counts before it is decoded: a few megabytes of `[],[],`
are hundreds of megabytes of lists. When the budget is spent, the client that holds most loses its largest body.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from steward.admission.errors import BusyError, EncodedBodyError, MalformedReviewError, ReviewTooLargeError
from steward.serving.byte_budget import BudgetExhausted, ByteBudget, ByteShare

MIB = 1 << 20
# A list element, an empty object or a short string take 60 to 130 bytes, and a handler may hold the object twice: as it
# came, and as it is returned.
VALUE_BYTES = 128
COPIES = 2


class ReviewBodies:
    """`limit` is for one body, `budget` for all bodies and what is decoded from them."""

    def __init__(self, limit: int, budget: int) -> None:
        self._limit = limit
        self._capacity = budget
        self._budget = ByteBudget(budget)

    @property
    def held(self) -> int:
        return self._budget.held

    @asynccontextmanager
    async def receive(
        self, request: web.BaseRequest, address: str, deadline: asyncio.Timeout
    ) -> AsyncIterator[bytes]:
        """The whole body, counted in the budget until the block ends. Ends `deadline` if the bytes are withdrawn."""
        received = bytearray()

        def drop() -> None:
            received.clear()
            if not deadline.expired():
                deadline.reschedule(asyncio.get_running_loop().time())

        with self._budget.share(address, drop) as share:
            try:
                await self._read(request, received, share)
                self._count_decoded(received, share)
            except (BudgetExhausted, asyncio.CancelledError) as error:
                if isinstance(error, BudgetExhausted) or share.is_withdrawn:
                    raise self._busy() from None
                raise
            body = bytes(received)
            received.clear()
            yield body

    async def _read(self, request: web.BaseRequest, received: bytearray, share: ByteShare) -> None:
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise EncodedBodyError("a review is sent without Content-Encoding")
        if (request.content_length or 0) > self._limit:
            raise self._too_large()
        try:
            async for chunk in request.content.iter_any():
                share.take(len(chunk))
                received += chunk
                if len(received) > self._limit:
                    raise self._too_large()
        except (web.RequestPayloadError, aiohttp.ClientPayloadError, HttpProcessingError):
            raise MalformedReviewError("the body of the review is not complete or not valid HTTP") from None

    def _count_decoded(self, received: bytearray, share: ByteShare) -> None:
        needed = COPIES * decoded_bytes(received)
        if share.size + needed > self._capacity:
            raise ReviewTooLargeError("the review holds too many values: the object is too large")
        share.take(needed)
        share.fix()

    def _too_large(self) -> ReviewTooLargeError:
        return ReviewTooLargeError(
            f"the review is larger than {self._limit / MIB:g} MiB: the object is too large"
        )

    def _busy(self) -> BusyError:
        return BusyError(
            f"the webhook is busy: reviews of {self._capacity / MIB:g} MiB are in progress; try again"
        )


def decoded_bytes(body: bytearray) -> int:
    """An upper estimate of the memory of the decoded object, without decoding it.

    Python holds a text in four bytes for each character as soon as one of them needs that.
    """
    width = 4 if b"\\u" in body or not body.isascii() else 1
    return len(body) * width + VALUE_BYTES * sum(body.count(mark) for mark in b",[{")
