"""Requests to the page: who gets what, and which are refused."""

from __future__ import annotations

import asyncio

import pytest

from steward.page.access.rate_limit import RateLimit
from steward.page.access.sessions import MOST_STREAMS, Sessions, open_session
from steward.page.routes.context import PageOptions
from steward.page.routes.one_time_key import OneTimeKey
from steward.page.routes.responses import SECURITY_HEADERS
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi, User
from tests.page.support.served import served_page

LOGIN = PageOptions(needs_login=True)


def sample_api() -> MemoryApi:
    api = MemoryApi()
    api.apply(*sample.sample())
    api.users |= {"t": User("ada"), "weak": User("weak", denied=frozenset({"Pod"}))}
    return api


async def test_the_one_time_url_works_once() -> None:
    async with served_page(sample_api()) as visitor:
        assert visitor.key is not None
        url = visitor.key.url("")
        assert (await visitor.get(url))[0] == 303
        visitor.http.cookie_jar.clear()
        status, text = await visitor.get(url)
        assert (status, "<!doctype html>" in text) == (403, True)
        assert (await visitor.get("/api/session"))[0] == 401


async def test_a_used_url_leads_its_own_reader_back_to_the_page() -> None:
    async with served_page(sample_api()) as visitor:
        assert visitor.key is not None
        url = visitor.key.url("")
        await visitor.open()
        status, headers = await visitor.headers(url)
        assert (status, headers["Location"]) == (303, "/")
        assert "Set-Cookie" not in headers


async def test_with_a_listener_each_url_works_once_and_is_followed_by_another() -> None:
    api, urls = sample_api(), list[str]()
    key = OneTimeKey(await open_session(api.client(), ()), lambda: urls.append(key.url("")))
    first = key.url("")
    async with served_page(api, key=key) as visitor:
        assert (await visitor.get(first))[0] == 303
        visitor.http.cookie_jar.clear()
        assert (await visitor.get(first))[0] == 403
        assert (await visitor.get(urls[0]))[0] == 303


async def test_without_the_key_there_is_no_data() -> None:
    async with served_page(sample_api()) as visitor:
        assert (await visitor.get("/open?key=wrong"))[0] == 403
        for path in ("/api/session", "/api/view?view=/now", "/api/stream?view=/now", "/api/search?q=db"):
            assert (await visitor.get(path))[0] == 401


async def test_a_view_is_json_of_the_same_sections() -> None:
    async with served_page(sample_api()) as visitor:
        await visitor.open()
        status, view = await visitor.get("/api/view?view=/cluster/shop/db")
        assert (status, view["head"]["endpoint"]) == (200, "db-multigateway.shop.svc:5432")
        _, found = await visitor.get("/api/search?q=acme-web")
        assert found["hits"][0]["object"]["href"] == "/tenant/shop/acme-web"


async def test_every_response_has_the_security_headers() -> None:
    async with served_page(sample_api()) as visitor:
        await visitor.open()
        for path in ("/", "/static/app.js", "/api/session", "/nothing", "/api/nothing"):
            _, headers = await visitor.headers(path)
            assert {name: headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS, path


async def test_the_shell_is_served_under_every_address_of_a_view() -> None:
    async with served_page(sample_api(), LOGIN) as visitor:
        for path in ("/", "/now", "/cluster/shop/db", "/registry/a/b", "/tenant/a/b", "/lab"):
            status, text = await visitor.get(path)
            assert (status, "<!doctype html>" in text) == (200, True), path


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/", "/etc/passwd"]
)
async def test_no_other_file_is_served(path: str) -> None:
    async with served_page(sample_api()) as visitor:
        assert (await visitor.get(path))[0] == 404


async def test_another_host_name_is_refused() -> None:
    async with served_page(sample_api(), PageOptions(hosts=frozenset({"127.0.0.1:1"}))) as visitor:
        assert (await visitor.get("/"))[0] == 421


async def test_a_reader_logs_in_with_a_token_and_out_again() -> None:
    async with served_page(sample_api(), LOGIN) as visitor:
        status, session = await visitor.log_in("t")
        assert (status, session["user"]) == (200, "ada")
        assert (await visitor.get("/api/view?view=/now"))[0] == 200
        assert (await visitor.post("/api/logout", {}))[0] == 200
        assert (await visitor.get("/api/view?view=/now"))[0] == 401


@pytest.mark.parametrize(("token", "status"), [("wrong", 401), ("", 400), ("two words", 400), ("é", 400)])
async def test_a_wrong_token_opens_nothing(token: str, status: int) -> None:
    async with served_page(sample_api(), LOGIN) as visitor:
        assert (await visitor.log_in(token))[0] == status
        assert (await visitor.get("/api/session"))[0] == 401


async def test_the_token_of_a_proxy_is_a_session() -> None:
    async with served_page(sample_api(), LOGIN) as visitor:
        status, session = await visitor.get("/api/session", Authorization="Bearer t")
        assert (status, session["user"]) == (200, "ada")
        assert (await visitor.get("/api/session", Authorization="Bearer wrong"))[0] == 401
        assert (await visitor.get("/api/session"))[0] == 401


async def test_without_a_login_a_token_in_a_header_is_not_used() -> None:
    async with served_page(sample_api()) as visitor:
        assert (await visitor.get("/api/session", Authorization="Bearer t"))[0] == 401


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites() -> None:
    async with served_page(sample_api()) as visitor:
        assert visitor.key is not None
        _, headers = await visitor.headers(visitor.key.url(""))
        assert "HttpOnly" in headers["Set-Cookie"]
        assert "SameSite=Strict" in headers["Set-Cookie"]


async def test_a_forged_request_is_refused() -> None:
    async with served_page(sample_api(), LOGIN) as visitor:
        await visitor.log_in("t")
        forged: list[dict[str, str]] = [
            {"X-Steward-Csrf": ""},
            {"X-Steward-Csrf": "wrong"},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
        ]
        for headers in forged:
            assert (await visitor.post("/api/logout", {}, **headers))[0] == 403, headers
        assert (await visitor.get("/api/session"))[0] == 200


async def test_a_login_from_another_page_is_refused() -> None:
    async with served_page(sample_api(), LOGIN) as visitor:
        status, _ = await visitor.post("/api/login", {"token": "t"}, Origin="https://evil.example")
        assert status == 403


async def test_behind_a_proxy_the_public_address_is_accepted() -> None:
    options = PageOptions(needs_login=True, public_url="https://steward.example.com")
    async with served_page(sample_api(), options) as visitor:
        status, _ = await visitor.post("/api/login", {"token": "t"}, Origin="https://steward.example.com")
        assert status == 200


async def test_too_many_logins_and_requests_are_refused() -> None:
    async with served_page(sample_api(), LOGIN) as visitor:
        visitor.context.logins = RateLimit(per_second=0, burst=2)
        visitor.context.requests = RateLimit(per_second=0, burst=2)
        assert [(await visitor.log_in(token))[0] for token in ("wrong", "t", "t")] == [401, 200, 429]
        assert [(await visitor.get("/api/session"))[0] for _ in range(3)] == [200, 200, 429]


async def test_a_session_has_a_limited_number_of_streams() -> None:
    async with served_page(sample_api()) as visitor:
        await visitor.open()
        url = f"{visitor.origin}/api/stream?view=/now"
        opened = [await visitor.http.get(url) for _ in range(MOST_STREAMS)]
        assert (await visitor.get("/api/stream?view=/now"))[0] == 429
        for answer in opened:
            answer.close()


async def test_a_stream_ends_when_the_token_is_no_longer_valid() -> None:
    api = sample_api()
    async with served_page(api, LOGIN) as visitor:
        await visitor.log_in("t")
        async with visitor.http.get(f"{visitor.origin}/api/stream?view=/now") as stream:
            await stream.content.readuntil(b"event: sections")
            del api.users["t"]
            (session,) = visitor.context.sessions.all()
            session.reviewed_at -= 3600
            await visitor.context.sessions.review(session)
            async with asyncio.timeout(10):
                rest = await stream.content.read()
        assert b"event: ended" in rest
        assert (await visitor.get("/api/session"))[0] == 401


async def test_a_reader_with_fewer_rights_sees_less_and_learns_why() -> None:
    async with served_page(sample_api(), LOGIN) as visitor:
        await visitor.log_in("weak")
        _, view = await visitor.get("/api/view?view=/now")
        assert view["problems"] == ["You may not list and watch Pod in all namespaces: it is not shown."]


async def test_kept_objects_are_listed_for_one_namespace_only() -> None:
    api = MemoryApi()
    async with served_page(api) as visitor:
        await visitor.open()
        assert (await visitor.get("/api/kept?view=/tenant/shop/acme-web"))[0] == 200
        assert (await visitor.get("/api/kept?view=/now"))[0] == 404


@pytest.mark.parametrize(
    "path", ["/api/kept?view=/tenant/shop/acme-web", "/api/compare?view=/tenant/shop/acme-web&id=settings"]
)
async def test_a_refused_token_ends_the_session_at_once(path: str) -> None:
    api = sample_api()
    async with served_page(api, LOGIN) as visitor:
        await visitor.log_in("t")
        api.users.pop("t")
        status, answer = await visitor.get(path)
        assert (status, "log in again" in answer["message"]) == (401, True)
        assert len(visitor.context.sessions) == 0


async def test_too_many_sessions_of_a_proxy_are_refused_in_words() -> None:
    api = sample_api()
    async with served_page(api, LOGIN) as visitor:
        visitor.context.sessions = Sessions(visitor.context.sessions._on_end, most=0)
        status, answer = await visitor.get("/api/session", Authorization="Bearer t")
        assert (status, answer["message"]) == (503, "too many readers are logged in: try again later")


async def test_an_address_without_a_view_is_answered_with_the_frame_of_the_page() -> None:
    async with served_page(sample_api()) as visitor:
        status, text = await visitor.get("/cluster/shop")
        assert (status, "<!doctype html>" in text) == (404, True)
