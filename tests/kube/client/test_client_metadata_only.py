"""Lists of metadata do not transfer the content of objects."""

from steward.kube.client.client import Client, ListQuery
from steward.kube.objects.kinds import SECRET
from steward.kube.objects.meta import Metadata


async def test_only_metadata_is_sent(client: Client, namespace: str) -> None:
    for name in ("a", "b"):
        secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "secret"}}
        await client.create({**secret, "metadata": {"name": name, "namespace": namespace}})

    many = await client.metadata_only().list(SECRET, ListQuery(namespace=namespace))

    assert [found["metadata"]["name"] for found in many.items] == ["a", "b"]
    assert not any("data" in found for found in many.items)


async def test_the_first_page_has_a_token_when_there_are_more(client: Client, namespace: str) -> None:
    for name in ("a", "b"):
        await client.create(
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}}
        )
    query = ListQuery(namespace=namespace, limit=1)

    part = await client.first_page(SECRET, query, Metadata)
    whole = await client.first_page(SECRET, ListQuery(namespace=namespace), Metadata)

    assert ([found.metadata.name for found in part.items], bool(part.more)) == (["a"], True)
    assert ([found.metadata.name for found in whole.items], whole.more) == (["a", "b"], "")
