import asyncio
import contextlib
import io
import logging
import re
import socket
import ssl

import msgspec
import pytest

from steward.admission.errors import ListenError
from steward.admission.review import Allowed, Denied
from steward.admission.server import (
    ReviewRecord,
    ReviewResult,
    ServerHooks,
    ServerSettings,
    Webhook,
    WebhookPurpose,
    WebhookServer,
)
from steward.certificates.serving_certificate import ServingCertificate
from steward.testkit import FakeClock
from tests.admission.support.reviews import review_body
from tests.certificates.support.leaves import write_leaf

BASKET = {"metadata": {"name": "b", "namespace": "shop"}, "spec": {"eggs": 1}}


async def allow(review):
    return Allowed()


async def fail(review):
    raise RuntimeError("the password is hunter2")


async def hang(review):
    await asyncio.Event().wait()


async def post(session, server, path="/check", body=None, **more):
    url = f"https://127.0.0.1:{server.port}{path}"
    async with session.post(url, data=body or review_body(BASKET), **more) as reply:
        return reply.status, await reply.text(), reply.headers


async def test_each_path_has_its_handler(serve, session):
    async def deny(review):
        return Denied(f"{review} is out")

    server = await serve(Webhook("/yes", allow), Webhook("/no", deny))
    verdicts = []
    for path in ("/yes", "/no"):
        status, text, _ = await post(session, server, path)
        response = msgspec.json.decode(text)["response"]
        verdicts.append((status, response["allowed"], response.get("status", {}).get("message")))
    assert verdicts == [(200, True, None), (200, False, "Basket shop/b is out")]


def test_two_webhooks_at_one_path_are_an_error():
    server = WebhookServer(ServerSettings(), ServingCertificate("nowhere"))
    server.add(Webhook("/x", allow))
    with pytest.raises(ValueError, match="two webhooks at /x"):
        server.add(Webhook("/x", allow))


async def test_a_failing_handler_is_a_500_that_names_the_object_and_logs_the_error(serve, session, caplog):
    server = await serve(Webhook("/check", fail), Webhook("/well", allow))
    status, text, _ = await post(session, server)
    assert status == 500
    assert text == "Basket shop/b: the webhook /check failed (RuntimeError); see the log of the operator"
    assert [record.object for record in caplog.records] == ["Basket shop/b"]
    assert (await post(session, server, "/well"))[0] == 200


async def test_a_handler_without_a_response_is_a_500_too(serve, session, caplog):
    async def forget(review):
        return None

    status, text, _ = await post(session, await serve(Webhook("/check", forget)))
    assert (status, "Basket shop/b" in text) == (500, True)


async def test_an_object_that_is_nested_too_deeply_is_rejected_with_a_message(serve, session):
    async def walk(review):
        return await walk(review)

    status, text, _ = await post(session, await serve(Webhook("/check", walk)))
    assert (status, text) == (500, "Basket shop/b is nested too deeply: flatten it")


async def test_a_hanging_handler_is_a_500_before_the_api_server_times_out(serve, session):
    server = await serve(Webhook("/check", hang))
    status, text, _ = await post(session, server, "/check?timeout=100ms")
    assert status == 500
    assert text == "Basket shop/b: the webhook /check did not respond within 0.09 s; try again"


async def test_a_review_over_the_size_limit_is_rejected_with_a_message(serve, session):
    server = await serve(Webhook("/check", allow), body_limit=1024 * 1024)
    body = review_body({**BASKET, "data": "x" * 1024 * 1024})

    async def chunks():
        yield body

    for data in (io.BytesIO(body), chunks()):
        status, text, _ = await post(session, server, body=data)
        assert (status, text) == (413, "the review is larger than 1 MiB: the object is too large")


async def test_a_body_that_does_not_arrive_is_a_500_within_the_deadline(serve, trust):
    server = await serve(Webhook("/check", allow))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
    writer.write(b"POST /check?timeout=200ms HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    answer = await asyncio.wait_for(reader.read(-1), 30)
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"did not receive the whole review in time" in answer
    assert server.held_bytes == 0
    writer.transport.abort()


async def test_a_client_that_hangs_up_gives_its_bytes_and_its_connection_back(serve, trust, caplog):
    server = await serve(Webhook("/check", allow))
    _, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
    writer.write(b"POST /check HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + b" " * 50_000)
    await until(lambda: server.held_bytes == 50_000)
    writer.transport.abort()
    await until(lambda: (server.held_bytes, server.connections) == (0, 0))
    assert caplog.records == []


async def test_small_reviews_are_answered_while_large_ones_fill_the_budget(serve, trust, session):
    server = await serve(Webhook("/check", allow), memory_limit=100_000)
    header = b"POST /check HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n"
    streams = [await asyncio.open_connection("127.0.0.1", server.port, ssl=trust) for _ in range(3)]
    for number, (_, writer) in enumerate(streams, 1):
        writer.write(header + b" " * 33_000)
        await until(lambda number=number: server.held_bytes == 33_000 * number)
    status, text, _ = await post(session, server)
    assert (status, server.held_bytes) == (200, 66_000), text
    answered = await asyncio.wait(
        [asyncio.create_task(reader.readline()) for reader, _ in streams], return_when=asyncio.FIRST_COMPLETED
    )
    assert [task.result() for task in answered[0]] == [b"HTTP/1.1 429 Too Many Requests\r\n"]
    for task in answered[1]:
        task.cancel()
    for _, writer in streams:
        writer.transport.abort()


async def until(holds):
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)


async def test_concurrent_reviews_are_limited_and_waiting_ones_run_later(serve, session):
    running, most, leave = 0, 0, asyncio.Event()
    full = asyncio.Event()

    async def count(review):
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 20:
            full.set()
        await leave.wait()
        running -= 1
        return Allowed()

    server = await serve(Webhook("/check", count))
    asked = [asyncio.create_task(post(session, server)) for _ in range(50)]
    await full.wait()
    leave.set()
    assert {status for status, _, _ in await asyncio.gather(*asked)} == {200}
    assert most == 20


async def test_too_many_waiting_reviews_are_rejected_with_retry_after(serve, session):
    entered, leave = asyncio.Event(), asyncio.Event()

    async def wait(review):
        entered.set()
        await leave.wait()
        return Allowed()

    server = await serve(Webhook("/check", wait), concurrent_reviews=1, waiting_reviews=0)
    first = asyncio.create_task(post(session, server))
    await entered.wait()
    status, text, headers = await post(session, server)
    assert (status, headers["Retry-After"]) == (429, "1")
    assert "1 reviews are in progress" in text
    leave.set()
    assert (await first)[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "sentence"),
    [
        ("GET", "/check", b"", 405, "by POST, not GET"),
        ("POST", "/other", b"", 404, "no webhook at /other; there are: /check"),
        ("POST", "/check", b"hello", 400, "no AdmissionReview"),
    ],
)
async def test_a_malformed_request_is_rejected_with_a_message(  # noqa: PLR0917
    serve, session, method, path, body, status, sentence
):
    server = await serve(Webhook("/check", allow))
    async with session.request(method, f"https://127.0.0.1:{server.port}{path}", data=body) as reply:
        assert reply.status == status
        assert sentence in await reply.text()


async def test_hooks_get_each_review_and_enclose_its_handler(serve, session):
    seen: list[ReviewRecord] = []
    spans: list[str] = []

    @contextlib.contextmanager
    def span(webhook, review):
        spans.append(f"{webhook.purpose} {review}")
        yield

    def record_review(record):
        seen.append(record)
        raise RuntimeError("a metric must not break a review")

    hooks = ServerHooks(on_review=record_review, around=span)
    server = await serve(
        Webhook("/check", allow, WebhookPurpose.DEFAULT, "Basket"),
        Webhook("/bad", fail, kind="Basket"),
        hooks=hooks,
    )
    assert (await post(session, server))[0] == 200
    await post(session, server, "/bad")
    assert [(one.purpose, one.resource, one.result) for one in seen] == [
        (WebhookPurpose.DEFAULT, "baskets", ReviewResult.ALLOWED),
        (WebhookPurpose.VALIDATE, "baskets", ReviewResult.ERROR),
    ]
    assert spans == ["DEFAULT Basket shop/b", "VALIDATE Basket shop/b"]


async def test_reviews_of_other_kinds_are_rejected_and_counted_without_their_kind(serve, session):
    seen: list[ReviewRecord] = []
    hooks = ServerHooks(on_review=seen.append)
    server = await serve(Webhook("/check", allow, kind="Basket"), hooks=hooks)
    for kind, expected in (("Basket", 200), ("Invented", 400), ("x" * 10_000, 400)):
        assert (await post(session, server, body=review_body(BASKET, kind={"kind": kind})))[0] == expected
    assert [record.kind for record in seen] == ["Basket", "", ""]


async def test_the_server_waits_for_its_certificate_and_reports_that(tmp_path, authority):
    clock = FakeClock()
    server = WebhookServer(ServerSettings("127.0.0.1", 0), ServingCertificate(tmp_path), clock)
    assert server.problem() == "the webhook server has not started"
    await server.start()
    await clock.until_asleep()
    assert "tls.crt: No such file or directory; mount" in server.problem()
    write_leaf(tmp_path, authority)
    clock.advance(1)
    await clock.until_asleep()
    assert server.problem() == ""
    await server.stop()
    assert server.problem() == "the webhook server has stopped"


async def test_a_port_in_use_is_an_error_at_the_start_or_later_makes_the_server_unready(
    serve, tmp_path, cert_dir, authority, caplog
):
    taken = ServerSettings("127.0.0.1", (await serve()).port)
    sentence = f"cannot listen on 127.0.0.1:{taken.port} .*: free the port or choose another"
    with pytest.raises(ListenError, match=sentence):
        await WebhookServer(taken, ServingCertificate(cert_dir)).start()
    clock = FakeClock()
    (tmp_path / "later").mkdir()
    server = WebhookServer(taken, ServingCertificate(tmp_path / "later"), clock)
    await server.start()
    await clock.until_asleep()
    write_leaf(tmp_path / "later", authority)
    clock.advance(1)
    await clock.until_asleep()
    assert re.search(sentence, server.problem())
    await server.stop()


async def test_a_stopping_server_finishes_running_reviews(serve, session):
    entered, leave = asyncio.Event(), asyncio.Event()

    async def slow(review):
        entered.set()
        await leave.wait()
        return Allowed()

    server = await serve(Webhook("/check", slow))
    asked = asyncio.create_task(post(session, server))
    await entered.wait()
    stopping = asyncio.create_task(server.stop())
    await asyncio.sleep(0)
    leave.set()
    assert (await asked)[0] == 200
    await stopping


async def test_a_new_certificate_is_served_while_open_connections_continue(
    cert_dir, authority, trust, session, caplog
):
    caplog.set_level(logging.INFO)
    clock = FakeClock()
    server = WebhookServer(ServerSettings("127.0.0.1", 0), ServingCertificate(cert_dir), clock)
    server.add(Webhook("/check", allow))
    await server.start()
    await clock.until_asleep()
    before = await served_certificate(server, trust)
    kept = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
    write_leaf(cert_dir, authority)
    clock.advance(5)
    await clock.until_asleep()
    assert await served_certificate(server, trust) != before
    assert await post_by_hand(*kept) == b"HTTP/1.1 200 OK\r\n"
    await server.stop()
    assert "serving a new certificate" in caplog.messages


async def test_no_handshake_fails_while_certificates_are_replaced(serve, cert_dir, authority, trust):
    server = await serve()
    certificate = server._certificate

    async def handshake():
        _, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
        writer.transport.abort()

    for _ in range(10):
        handshakes = [asyncio.create_task(handshake()) for _ in range(5)]
        write_leaf(cert_dir, authority)
        assert certificate.reload()
        await asyncio.gather(*handshakes)


async def served_certificate(server, trust):
    _, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=trust)
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return shown


async def post_by_hand(reader, writer):
    body = review_body(BASKET)
    writer.write(b"POST /check HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    status = await reader.readline()
    writer.transport.abort()
    return status


async def test_a_client_that_never_closes_does_not_keep_the_server_from_stopping(serve, trust):
    server = await serve()

    def connect():
        # A blocking client: it does not read, so it does not answer the server's close_notify.
        return trust.wrap_socket(
            socket.create_connection(("127.0.0.1", server.port)), server_hostname="localhost"
        )

    client = await asyncio.to_thread(connect)
    await server.stop()
    with client:
        # With an open connection, this would end with a TimeoutError.
        client.settimeout(60)
        try:
            left = await asyncio.to_thread(client.recv, 1)
        except (ConnectionError, ssl.SSLError):
            left = b""
    assert left == b""
