"""Answers a request: checks its host, its session and its rate, then calls the handler of its path."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from steward.kube.errors import Conflict, Forbidden, KubeError, Unauthorized
from steward.page.access.sessions import Session
from steward.page.models.addresses import parse_address
from steward.page.routes import actions, lab, login, views
from steward.page.routes.context import PageContext
from steward.page.routes.one_time_key import OneTimeKey
from steward.page.routes.responses import Refused, json_response, refusal, with_headers
from steward.page.routes.static_files import SHELL, file_response, read_files, shell_response
from steward.serving.connections import Connection

_STATIC: Final = "/static/"


class Router:
    def __init__(self, context: PageContext, key: OneTimeKey | None = None) -> None:
        self._context = context
        self._key = key
        self._files = read_files()

    async def handle(self, request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
        try:
            response = await self._answer(request, connection)
        except Refused as error:
            response = refusal(error)
        except Unauthorized:
            needs_login = self._context.options.needs_login
            response = refusal(Refused(401, login.EXPIRED if needs_login else login.REFUSED_CREDENTIALS))
        except Forbidden as error:
            response = refusal(Refused(403, str(error)))
        except Conflict:
            response = refusal(Refused(409, "the object has changed meanwhile: look again, then repeat it"))
        except KubeError as error:
            response = refusal(Refused(502, str(error)))
        if not response.prepared:
            with_headers(response, is_secure=self._context.options.is_secure)
        return response

    async def _answer(self, request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
        self._require_host(request)
        if request.method == "GET" and not request.path.startswith("/api/"):
            return await self._public(request)
        if (request.method, request.path) == ("POST", "/api/login"):
            return await login.log_in(request, self._context)
        session = await login.require_session(request, self._context)
        if not self._context.requests.allows(session.csrf_token):
            raise Refused(429, "too many requests: wait a second")
        try:
            return await self._serve(request, connection, session)
        except Unauthorized:
            await self._context.sessions.end(session)
            raise

    async def _serve(
        self, request: web.BaseRequest, connection: Connection, session: Session
    ) -> web.StreamResponse:
        if request.method == "GET":
            return await self._read(request, connection, session)
        login.require_csrf_token(request, session, self._context.options)
        return await self._write(request, session)

    def _require_host(self, request: web.BaseRequest) -> None:
        hosts = self._context.options.hosts
        if hosts and request.headers.get("Host", "") not in hosts:
            raise Refused(421, "this page is served under another name")

    async def _public(self, request: web.BaseRequest) -> web.StreamResponse:
        """Files of the front end, which hold no data of the cluster, and the one-time URL."""
        path = request.path
        if path == "/healthz":
            return web.Response(text="ok\n")
        if path == "/open" and self._key is not None:
            return await self._open(self._key, request)
        if path.startswith(_STATIC):
            return file_response(self._files, path.removeprefix(_STATIC), request)
        if path == "/lab" or parse_address(path) is not None:
            return file_response(self._files, SHELL, request)
        return shell_response(self._files, 404)

    async def _open(self, key: OneTimeKey, request: web.BaseRequest) -> web.StreamResponse:
        """An address that was used still leads its own reader to the page; others see how to open it."""
        try:
            return await key.open(request, self._context)
        except Refused as error:
            if self._context.sessions.find(request.cookies.get(self._context.options.cookie, "")):
                return web.Response(status=303, headers={"Location": "/"})
            return shell_response(self._files, error.status)

    async def _read(
        self, request: web.BaseRequest, connection: Connection, session: Session
    ) -> web.StreamResponse:
        context = self._context
        match request.path:
            case "/api/session":
                return json_response(login.session_dict(session, context))
            case "/api/stream":
                return await views.stream_view(request, connection, session, context)
            case "/api/view":
                return await views.view_once(request, session, context)
            case "/api/search":
                return await views.find_objects(request, session, context)
            case "/api/compare":
                return await views.compare(request, session)
            case "/api/kept":
                return await views.kept_objects(request, session)
            case "/api/actions":
                return await actions.list_actions(request, session, context)
            case "/api/templates":
                return await lab.list_templates(session, context)
            case "/api/template":
                return await lab.load_template(request, session, context)
            case _:
                raise Refused(404, "there is no such path")

    async def _write(self, request: web.BaseRequest, session: Session) -> web.StreamResponse:
        match (request.method, request.path):
            case ("POST", "/api/logout"):
                return await login.log_out(session, self._context)
            case ("POST", "/api/action"):
                return await actions.act(request, session, self._context)
            case ("POST", "/api/lab"):
                return await lab.try_manifests(request, session)
            case _:
                raise Refused(404, "there is no such path")
