"""Sessions: login with a token, the token of a proxy, logout, and protection against forged requests."""

from __future__ import annotations

import hmac
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from msgspec import Struct

from steward.kube.errors import KubeError, Unauthorized
from steward.page.access.sessions import Session, TooManySessions, open_session
from steward.page.live.watch_rules import Namespaces
from steward.page.routes.context import PageContext, PageOptions
from steward.page.routes.responses import Refused, json_response

CSRF_HEADER: Final = "X-Steward-Csrf"
LONGEST_BODY: Final = 256 << 10
_BEARER: Final = "Bearer "
NOT_LOGGED_IN: Final = "log in first"
NOT_OPENED: Final = "open the address that `steward page` printed: it works once"
EXPIRED: Final = "the API server no longer accepts your token: log in again"
REFUSED_CREDENTIALS: Final = (
    "the API server no longer accepts your credentials: "
    "log in to the cluster, then start `steward page` again"
)


class LoginForm(Struct, rename="camel"):
    token: str
    namespaces: str = ""


async def require_session(request: web.BaseRequest, context: PageContext) -> Session:
    """The session of a cookie, or of the token that a proxy has added."""
    session = context.sessions.find(request.cookies.get(context.options.cookie, ""))
    header = request.headers.get("Authorization", "")
    if session is None and context.options.needs_login and header.startswith(_BEARER):
        session = await _session_of_proxy(header.removeprefix(_BEARER), request, context)
    if session is None:
        raise Refused(401, NOT_LOGGED_IN if context.options.needs_login else NOT_OPENED)
    return session


async def _session_of_proxy(token: str, request: web.BaseRequest, context: PageContext) -> Session:
    known = context.sessions.find(f"{_BEARER}{token}")
    if known is not None:
        return known
    session = await _login(token, (), request, context)
    await _add(session, context, f"{_BEARER}{token}")
    return session


async def log_in(request: web.BaseRequest, context: PageContext) -> web.Response:
    if not context.options.needs_login:
        raise Refused(404, "this page has no login")
    require_same_origin(request, context.options)
    form = await read_json(request, LoginForm)
    session = await _login(form.token.strip(), parse_namespaces(form.namespaces), request, context)
    secret = await _add(session, context)
    return with_cookie(json_response(session_dict(session, context)), secret, context.options)


async def _login(
    token: str, namespaces: Namespaces, request: web.BaseRequest, context: PageContext
) -> Session:
    if not context.logins.allows(request.remote or ""):
        raise Refused(429, "too many logins from this address: wait a few seconds")
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise Refused(400, "this is not a token: paste the output of `kubectl create token NAME`")
    client = await context.client_for_token(token)
    try:
        session = await open_session(client, namespaces)
    except Unauthorized as error:
        await client.close()
        raise Refused(401, "the API server does not accept this token: it may have expired") from error
    except KubeError as error:
        await client.close()
        raise Refused(502, str(error)) from error
    return session


async def _add(session: Session, context: PageContext, secret: str = "") -> str:
    try:
        return context.sessions.add(session, secret)
    except TooManySessions as error:
        await session.client.close()
        raise Refused(503, "too many readers are logged in: try again later") from error


async def log_out(session: Session, context: PageContext) -> web.Response:
    if not context.options.needs_login:
        raise Refused(404, "this page has no login")
    await context.sessions.end(session)
    response = json_response({})
    response.del_cookie(context.options.cookie, path="/")
    return response


def with_cookie(response: web.Response, secret: str, options: PageOptions) -> web.Response:
    response.set_cookie(
        options.cookie, secret, path="/", httponly=True, samesite="Strict", secure=options.is_secure
    )
    return response


def session_dict(session: Session, context: PageContext) -> dict[str, Any]:
    return {
        "user": session.identity.user,
        "cluster": context.options.cluster,
        "csrfToken": session.csrf_token,
        "namespaces": list(session.scope.namespaces),
        "isEmpty": session.scope.is_empty,
        "allowsActions": context.options.allows_actions,
        "canLogOut": context.options.needs_login,
    }


def parse_namespaces(text: str) -> Namespaces:
    return tuple(sorted({name for name in text.replace(",", " ").split() if name}))[:20]


def require_csrf_token(request: web.BaseRequest, session: Session, options: PageOptions) -> None:
    require_same_origin(request, options)
    if not hmac.compare_digest(request.headers.get(CSRF_HEADER, "").encode(), session.csrf_token.encode()):
        raise Refused(403, "the request lacks the token of this session: reload the page")


def require_same_origin(request: web.BaseRequest, options: PageOptions) -> None:
    """A browser names the page that a request comes from; another one may not send it."""
    origin = request.headers.get("Origin", "")
    accepted = {request.headers.get("Host", ""), urlsplit(options.public_url).netloc} - {""}
    if urlsplit(origin).netloc not in accepted:
        raise Refused(403, "the request comes from another page")


async def read_json(request: web.BaseRequest, form: type[Any]) -> Any:
    if request.content_type != "application/json":
        raise Refused(415, "the request is not JSON")
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > LONGEST_BODY:
            raise Refused(413, f"the request is longer than {LONGEST_BODY >> 10} KiB")
    try:
        return msgspec.json.decode(bytes(body), type=form)
    except msgspec.MsgspecError as error:
        raise Refused(400, f"the request cannot be read: {error}") from error
