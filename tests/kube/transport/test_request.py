import pytest

from steward.kube.transport.request import CallOptions, Effect, Request, Response

WRITE = Request(method="PUT", path="/a", body=b"s3cret", effect=Effect.WRITE)
READ = Request(method="GET", path="/a")


def test_a_printed_request_or_answer_shows_no_body() -> None:
    assert repr(WRITE) == "Request(PUT /a)"
    assert repr(Response(200, {}, b"s3cret")) == "Response(200, 6 bytes)"


@pytest.mark.parametrize(("request_", "harmless"), [(READ, True), (WRITE, False)])
def test_only_a_read_is_harmless_twice_by_itself(request_: Request, harmless: bool) -> None:
    assert request_.is_idempotent is harmless


@pytest.mark.parametrize("request_", [READ, WRITE])
def test_the_terms_of_a_client_go_into_each_of_its_requests(request_: Request) -> None:
    terms = CallOptions(headers=(("A", "b"),), timeout=3.0)
    asked = terms.apply_to(request_)
    assert (asked.headers, asked.timeout, asked.effect) == ((("A", "b"),), 3.0, request_.effect)
    assert CallOptions(election=True).apply_to(request_).effect is Effect.ELECTION
