"""The webhook server as the real API server calls it."""

import asyncio

import pytest

from steward.admission.review import Allowed, Denied, Operation, StatusCause, deny_invalid
from steward.admission.server import ReviewResult, ServerHooks, Webhook, WebhookPurpose
from steward.kube.errors import Forbidden, InternalError, Invalid, KubeError, NotFound
from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref

MIB = 1024 * 1024


def config_map(namespace, name, **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


async def wait_until_in_effect(client, namespace):
    """A new webhook takes effect once the API server's own watch has delivered it: from then on `probe` is denied."""
    async with asyncio.timeout(120):
        while True:
            try:
                await client.create(config_map(namespace, "probe"), dry_run=True)
            except KubeError:
                return
            await asyncio.sleep(0.02)


def deny_probe(handler):
    async def answer(review):
        return Denied("probe") if review.name == "probe" else await handler(review)

    return answer


@pytest.fixture
def serve_and_register(serve, register, client, namespace):
    """Serve one handler and register it with the API server."""

    async def serve_and_register(path, handler, **webhook):
        purpose = WebhookPurpose.DEFAULT if path.startswith("/mutate") else WebhookPurpose.VALIDATE
        server = await serve(Webhook(path, deny_probe(handler), purpose))
        await register(server, path, **webhook)
        await wait_until_in_effect(client, namespace)
        return server

    return serve_and_register


async def test_a_mutating_webhook_changes_the_stored_object(serve_and_register, client, namespace):
    async def default(review):
        changed = review.object
        changed["data"]["default"] = "yes"
        changed["metadata"]["annotations"] = {"tests.io/slash": "in a key"}
        del changed["data"]["drop"]
        changed["metadata"]["labels"] = {"defaulted": "true"}
        changed["metadata"]["finalizers"] = ["tests.io/a", "tests.io/b"]
        return Allowed(changed)

    await serve_and_register("/mutate", default)
    await client.create(config_map(namespace, "one", drop="me", keep="me"))
    stored = await client.get(CONFIG_MAP, Key(namespace, "one"))
    assert stored["data"] == {"keep": "me", "default": "yes"}
    assert stored["metadata"]["annotations"] == {"tests.io/slash": "in a key"}
    assert stored["metadata"]["labels"] == {"defaulted": "true"}
    assert stored["metadata"]["finalizers"] == ["tests.io/a", "tests.io/b"]


async def test_a_mutating_webhook_removes_and_reorders_list_items(serve_and_register, client, namespace):
    async def shuffle(review):
        if review.operation is Operation.UPDATE:
            review.object["metadata"]["finalizers"] = ["t.io/d", "t.io/b"]
        return Allowed(review.object)

    await serve_and_register("/mutate", shuffle)
    first = config_map(namespace, "one")
    first["metadata"]["finalizers"] = ["t.io/a", "t.io/b", "t.io/c"]
    await client.create(first)
    await client.replace(first)
    stored = await client.get(CONFIG_MAP, Key(namespace, "one"))
    assert stored["metadata"]["finalizers"] == ["t.io/d", "t.io/b"]


async def test_a_denial_has_its_code_and_causes_for_the_user(serve_and_register, client, namespace):
    async def check(review):
        if review.name == "private":
            return Denied("ConfigMap private belongs to the operator")
        return deny_invalid("data.eggs must be even", StatusCause("data.eggs", "must be even, is 3"))

    await serve_and_register("/validate", check)
    with pytest.raises(Forbidden, match="belongs to the operator"):
        await client.create(config_map(namespace, "private"))
    with pytest.raises(Invalid, match=r"data\.eggs must be even") as caught:
        await client.create(config_map(namespace, "one", eggs="3"))
    assert dict(caught.value.causes) == {"data.eggs": ("must be even, is 3",)}


async def test_the_handler_gets_the_operation_the_user_and_both_objects(
    serve_and_register, client, namespace
):
    seen = []

    async def record(review):
        old, new = review.old_object.get("data"), review.object.get("data")
        seen.append(
            (str(review.operation), str(review), old, new, review.dry_run, bool(review.user.username))
        )
        return Allowed()

    await serve_and_register("/validate", record)
    which = Ref(CONFIG_MAP, Key(namespace, "one"))
    await client.create(config_map(namespace, "one", k="1"), dry_run=True)
    await client.create(config_map(namespace, "one", k="1"))
    await client.replace(config_map(namespace, "one", k="2"))
    await client.delete(which)
    named = f"ConfigMap {namespace}/one"
    assert seen == [
        ("CREATE", named, None, {"k": "1"}, True, True),
        ("CREATE", named, None, {"k": "1"}, False, True),
        ("UPDATE", named, {"k": "1"}, {"k": "2"}, False, True),
        ("DELETE", named, {"k": "2"}, None, False, True),
    ]


async def test_the_error_names_the_object(serve_and_register, client, namespace, caplog):
    async def fail(review):
        raise LookupError("something private")

    await serve_and_register("/validate", fail)
    with pytest.raises(InternalError) as caught:
        await client.with_timeout(60).create(config_map(namespace, "one"))
    assert f"ConfigMap {namespace}/one: the webhook /validate failed (LookupError)" in str(caught.value)
    assert "private" not in str(caught.value)


async def test_a_failing_webhook_with_policy_ignore_allows_the_request(
    serve_and_register, client, namespace, caplog
):
    async def fail(review):
        raise LookupError

    await serve_and_register("/validate", fail, failurePolicy="Ignore")
    await client.create(config_map(namespace, "one"))
    await client.get(CONFIG_MAP, Key(namespace, "one"))


async def test_a_slow_webhook_responds_before_the_api_server_times_out(serve_and_register, client, namespace):
    async def hang(review):
        await asyncio.Event().wait()

    # A tenth of it is the margin for our response, also on a slow machine.
    await serve_and_register("/validate", hang, timeoutSeconds=5)
    with pytest.raises(KubeError, match=r"did not respond within 4\.5 s; try again"):
        await client.with_timeout(60).create(config_map(namespace, "one"))


async def test_the_largest_object_of_the_api_server_is_accepted(serve_and_register, client, namespace):
    async def label(review):
        review.object["metadata"]["labels"] = {"seen": "true"}
        return Allowed(review.object)

    await serve_and_register("/mutate", label)
    large = config_map(namespace, "one", text="x" * (MIB - 1024))
    await client.create(large)
    await client.replace(large | {"data": {"text": "y" * (MIB - 1024)}})
    stored = await client.get(CONFIG_MAP, Key(namespace, "one"))
    assert stored["metadata"]["labels"] == {"seen": "true"}


async def test_a_denied_delete_keeps_the_object(serve_and_register, client, namespace):
    async def deny_delete(review):
        return Denied("one is in use") if review.operation is Operation.DELETE else Allowed()

    await serve_and_register("/validate", deny_delete)
    await client.create(config_map(namespace, "one"))
    with pytest.raises(Forbidden, match="one is in use"):
        await client.delete(Ref(CONFIG_MAP, Key(namespace, "one")))
    await client.get(CONFIG_MAP, Key(namespace, "one"))
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAP, Key(namespace, "two"))


async def test_a_busy_webhook_is_called_again_by_the_api_server(serve, register, client, namespace):
    inside, leave = asyncio.Event(), asyncio.Event()

    async def slow(review):
        if review.name == "slow":
            inside.set()
            await leave.wait()
        return Allowed()

    server = await serve(
        Webhook("/validate", deny_probe(slow)),
        concurrent_reviews=1,
        waiting_reviews=0,
        hooks=ServerHooks(on_review=lambda reviewed: reviewed.result is ReviewResult.ERROR and leave.set()),
    )
    await register(server, "/validate")
    await wait_until_in_effect(client, namespace)
    first = asyncio.create_task(client.create(config_map(namespace, "slow")))
    await inside.wait()
    await client.create(config_map(namespace, "second"))
    assert leave.is_set()
    await first
