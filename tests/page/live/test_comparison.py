"""Rendered objects beside the live ones."""

from steward.kube.objects.kinds import Key, Kind
from steward.page.live.comparison import SECRET_MESSAGE, compare, compare_object, project
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi, User

ACME = Key("shop", "acme-web")
CONFIG_MAP = Kind("v1", "ConfigMap")


def test_only_rendered_fields_are_compared() -> None:
    assert project({"a": {"b": 1}, "c": [1]}, {"a": {"b": 2, "x": 0}, "c": [1, 2]}) == {
        "a": {"b": 2},
        "c": [1, 2],
    }


def test_an_equal_object_has_no_diff() -> None:
    found = compare({"data": {"plan": "gold"}}, {"data": {"plan": "gold", "more": "x"}, "metadata": {}})
    assert (found.diff, found.message) == ([], "The live object has every rendered field.")


def test_a_changed_field_is_in_the_diff() -> None:
    lines = compare({"data": {"plan": "gold"}}, {"data": {"plan": "lead"}}).diff
    assert [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")] == [
        "-  plan: gold",
        "+  plan: lead",
    ]


async def test_the_live_object_is_read_with_the_readers_rights() -> None:
    api = MemoryApi()
    api.apply(sample.tenant("acme"))
    missing = await compare_object(api.client(), ACME, "settings")
    assert missing is not None
    assert missing.message == "ConfigMap shop/acme-web-settings does not exist."
    api.users["weak"] = User(denied=frozenset({"ConfigMap"}))
    denied = await compare_object(api.client("weak"), ACME, "settings")
    assert denied is not None
    assert denied.message.startswith("You may not read")


async def test_a_secret_is_not_read() -> None:
    api = MemoryApi()
    tenant = sample.tenant("acme")
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "acme-password"}}
    tenant["spec"]["secrets"] = [{"id": "password", "spec": body}]
    api.apply(tenant)
    found = await compare_object(api.client(), ACME, "password")
    assert found is not None
    assert found.message == SECRET_MESSAGE
    assert not [path for _, path in api.requests if "secrets" in path]


async def test_an_unknown_id_has_no_comparison() -> None:
    api = MemoryApi()
    api.apply(sample.tenant("acme"))
    assert await compare_object(api.client(), ACME, "other") is None
