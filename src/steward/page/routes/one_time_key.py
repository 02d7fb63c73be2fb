"""The one-time URL of `steward page` on a laptop: the first caller gets the session, and the key is void."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from aiohttp import web

from steward.page.access.sessions import Session
from steward.page.routes.context import PageContext
from steward.page.routes.login import NOT_OPENED, with_cookie
from steward.page.routes.responses import Refused


class OneTimeKey:
    """`on_used` is called when the key was used; without it there is no further one."""

    def __init__(self, session: Session, on_used: Callable[[], None] | None = None) -> None:
        self._session = session
        self._on_used = on_used
        self._key = secrets.token_urlsafe(24)

    def url(self, base: str) -> str:
        return f"{base}/open?key={self._key}"

    async def open(self, request: web.BaseRequest, context: PageContext) -> web.StreamResponse:
        given = request.query.get("key", "")
        if not self._key or not hmac.compare_digest(given.encode(), self._key.encode()):
            raise Refused(403, NOT_OPENED)
        self._key = secrets.token_urlsafe(24) if self._on_used else ""
        if self._on_used:
            self._on_used()
        response = web.Response(status=303, headers={"Location": "/"})
        return with_cookie(response, context.sessions.add(self._session), context.options)
