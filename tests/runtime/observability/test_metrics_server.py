"""Authorization of /metrics, with a fake and with a real API server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import msgspec
import pytest

from steward.kube.client.client import Client
from steward.kube.errors import Unreachable
from steward.kube.objects.auth_reviews import Access, AccessReviewResult, Subject, TokenReviewResult
from steward.kube.objects.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, SERVICE_ACCOUNT, Key, Kind, Ref
from steward.kube.transport.request import Effect, Request
from steward.runtime.observability.http_server import (
    Address,
    HttpServer,
    ReloadingTls,
    ServingError,
    self_signed_tls,
)
from steward.runtime.observability.metrics import Metrics
from steward.runtime.observability.metrics_server import (
    ALLOWED_SECONDS,
    DENIED_CAPACITY,
    DENIED_SECONDS,
    REVIEWS_A_SECOND,
    WAITING_REVIEWS,
    AccessDecision,
    MetricsAuthorizer,
    authorized_server,
    plain_server,
)
from steward.serving.fair_limit import LimitExceeded
from steward.testkit.clock import FakeClock

LOOPBACK = Address("127.0.0.1", 0)


class FakeReviews:
    """A fake of the API server's reviews that counts them."""

    def __init__(self) -> None:
        self.reviews = 0
        self.may_read = {"anna"}
        self.error: Exception | None = None

    async def review_token(self, token: str) -> TokenReviewResult:
        self.reviews += 1
        if self.error:
            raise self.error
        known = token.removeprefix("token-of-")
        return TokenReviewResult(authenticated=known != token, user=known)

    async def review_access(self, access: Access, subject: Subject) -> AccessReviewResult:
        assert access.attributes() == {"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}
        return AccessReviewResult(allowed=subject.user in self.may_read)


@pytest.fixture
def reviews() -> FakeReviews:
    return FakeReviews()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="module")
def tls() -> ReloadingTls:
    """Made once, by a subprocess."""
    return self_signed_tls(FakeClock())


@pytest.fixture
async def authorized_metrics(
    reviews: FakeReviews, clock: FakeClock, tls: ReloadingTls
) -> AsyncIterator[HttpServer]:
    authorizer = MetricsAuthorizer(reviews, clock)  # type: ignore[arg-type]
    server = authorized_server(LOOPBACK, Metrics().registry, authorizer, tls)
    await server.start()
    yield server
    await server.stop()


async def get(server: HttpServer, authorization: str = "", scheme: str = "https") -> tuple[int, str]:
    headers = {"Authorization": authorization} if authorization else {}
    url = f"{scheme}://127.0.0.1:{server.port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers, ssl=False) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("", 401),
        ("Basic YW5uYTp4", 401),
        ("Bearer ", 401),
        ("Bearer forged", 401),
        ("Bearer token-of-otto", 403),
        ("Bearer token-of-anna", 200),
    ],
)
async def test_only_authenticated_and_authorized_clients_may_read(
    authorized_metrics: HttpServer, authorization: str, status: int
) -> None:
    code, text = await get(authorized_metrics, authorization)
    assert code == status
    assert ("process_cpu_seconds_total" in text) == (status == 200)


async def test_decisions_are_cached_briefly(
    authorized_metrics: HttpServer, reviews: FakeReviews, clock: FakeClock
) -> None:
    for _ in range(3):
        await get(authorized_metrics, "Bearer token-of-anna")
    assert reviews.reviews == 1
    reviews.may_read.clear()
    clock.advance(ALLOWED_SECONDS + 1)
    assert (await get(authorized_metrics, "Bearer token-of-anna"))[0] == 403
    assert reviews.reviews == 2


@pytest.mark.parametrize("token", ["\udcff\udcfe", "tökén", "two words", "=", "a=b", "x" * 9, "\x7f"])
async def test_only_what_may_be_a_token_costs_a_review(
    reviews: FakeReviews, clock: FakeClock, token: str
) -> None:
    authorizer = MetricsAuthorizer(reviews, clock)  # type: ignore[arg-type]
    assert await authorizer.authorize(token, "10.0.0.66") is AccessDecision.UNAUTHENTICATED
    assert reviews.reviews == (1 if token == "x" * 9 else 0)


async def test_a_denied_token_is_remembered_briefly(reviews: FakeReviews, clock: FakeClock) -> None:
    authorizer = MetricsAuthorizer(reviews, clock)  # type: ignore[arg-type]
    for _ in range(5):
        await authorizer.authorize("forged", "10.0.0.66")
    assert reviews.reviews == 1
    clock.advance(DENIED_SECONDS + 1)
    await authorizer.authorize("forged", "10.0.0.66")
    assert reviews.reviews == 2


async def test_invented_tokens_cannot_exceed_the_reviews_of_a_second(
    reviews: FakeReviews, clock: FakeClock
) -> None:
    authorizer = MetricsAuthorizer(reviews, clock)  # type: ignore[arg-type]
    loop = asyncio.get_running_loop()
    started = loop.time()
    attempts = [
        asyncio.create_task(authorizer.authorize(f"forged-{number}", "10.0.0.66")) for number in range(200)
    ]
    # It comes last, and waits for one turn of the other address.
    scraper = asyncio.create_task(authorizer.authorize("token-of-anna", "10.0.0.1"))
    assert await asyncio.wait_for(scraper, 30) is AccessDecision.ALLOWED
    assert reviews.reviews <= REVIEWS_A_SECOND * (2 + loop.time() - started)
    for task in attempts:
        task.cancel()
    results = await asyncio.gather(*attempts, return_exceptions=True)
    rejected = sum(isinstance(result, LimitExceeded) for result in results)
    assert rejected == 200 - REVIEWS_A_SECOND - WAITING_REVIEWS + 1


async def test_invented_tokens_do_not_displace_a_known_one(reviews: FakeReviews, clock: FakeClock) -> None:
    authorizer = MetricsAuthorizer(reviews, clock)  # type: ignore[arg-type]
    await authorizer.authorize("token-of-anna", "10.0.0.1")
    for number in range(2 * DENIED_CAPACITY):
        authorizer._remember(str(number).encode(), AccessDecision.UNAUTHENTICATED)
    assert await authorizer.authorize("token-of-anna", "10.0.0.1") is AccessDecision.ALLOWED
    assert (reviews.reviews, len(authorizer._denied)) == (1, DENIED_CAPACITY)


async def test_without_an_api_server_metrics_cannot_be_read(
    authorized_metrics: HttpServer, reviews: FakeReviews
) -> None:
    reviews.error = Unreachable("no route")
    assert (await get(authorized_metrics, "Bearer token-of-anna"))[0] == 503
    reviews.error = None
    assert (await get(authorized_metrics, "Bearer token-of-anna"))[0] == 200


async def test_plain_metrics_are_served_on_loopback(reviews: FakeReviews) -> None:
    server = plain_server(LOOPBACK, Metrics().registry)
    await server.start()
    assert (await get(server, scheme="http"))[0] == 200
    await server.stop()


@pytest.mark.parametrize("host", ["", "0.0.0.0", "10.0.0.1"])
def test_plain_metrics_on_other_addresses_are_rejected(host: str) -> None:
    with pytest.raises(ServingError, match="on loopback only"):
        plain_server(Address(host, 8080), Metrics().registry)


async def token_of(client: Client, namespace: str, account: str) -> str:
    """A real token for a new service account."""
    metadata = {"name": account, "namespace": namespace}
    await client.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    resource = await client.discovery.resource(SERVICE_ACCOUNT)
    path = resource.path(Key(namespace, account), "token")
    spec = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": 600},
    }
    request = Request(method="POST", path=path, body=msgspec.json.encode(spec), effect=Effect.WRITE)
    answer = await client._transport.request(request)
    token: str = msgspec.json.decode(answer.body)["status"]["token"]
    return token


@pytest.fixture
async def reader_role(client: Client, namespace: str) -> AsyncIterator[str]:
    """May `get /metrics`, bound to the service account `reader`."""
    name = f"{namespace}-metrics"
    await client.create(
        {
            "apiVersion": CLUSTER_ROLE.api_version,
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
        }
    )
    await client.create(
        {
            "apiVersion": CLUSTER_ROLE_BINDING.api_version,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": namespace}],
        }
    )
    yield name
    for kind in (CLUSTER_ROLE, CLUSTER_ROLE_BINDING):
        await client.delete(Ref(Kind(kind.api_version, kind.kind), Key("", name)))


async def test_a_real_api_server_authorizes_tokens(client: Client, namespace: str, reader_role: str) -> None:
    allowed = await token_of(client, namespace, "reader")
    unbound = await token_of(client, namespace, "stranger")
    authorizer = MetricsAuthorizer(client, FakeClock())
    assert await authorizer.authorize("forged", "10.0.0.1") is AccessDecision.UNAUTHENTICATED
    assert await authorizer.authorize(unbound, "10.0.0.1") is AccessDecision.FORBIDDEN
    assert await authorizer.authorize(allowed, "10.0.0.1") is AccessDecision.ALLOWED
