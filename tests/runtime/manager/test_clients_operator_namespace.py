"""Which namespace is the operator's own: never that of a kubeconfig's context, which is one of users."""

import json
from pathlib import Path

import pytest

from steward.runtime.manager.clients import open_connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.settings import Settings


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    context = {"cluster": "local", "user": "me", "namespace": "users"}
    file = tmp_path / "kubeconfig"
    file.write_text(
        json.dumps(
            {
                "clusters": [{"name": "local", "cluster": {"server": "https://127.0.0.1:1"}}],
                "users": [{"name": "me", "user": {"token": "t"}}],
                "contexts": [{"name": "local", "context": context}],
                "current-context": "local",
            }
        )
    )
    return str(file)


@pytest.mark.parametrize(
    ("flag", "environ", "operator_namespace", "namespace"),
    [
        ("", {}, "", "users"),
        ("", {"POD_NAMESPACE": "system"}, "system", "system"),
        ("flag", {"POD_NAMESPACE": "system"}, "flag", "flag"),
    ],
)
async def test_the_operators_namespace_is_named_by_a_flag_or_by_its_pod(
    kubeconfig: str, flag: str, environ: dict[str, str], operator_namespace: str, namespace: str
) -> None:
    settings = Settings(kubeconfig=kubeconfig, namespace=flag)
    connection = await open_connection(settings, identity("test"), environ)
    try:
        assert connection.operator_namespace == operator_namespace
        assert connection.namespace == namespace
    finally:
        await connection.close()
