from typing import Any

import pytest

from steward.runtime.observability.redaction import MASK, redact, redact_text

TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzdGV3YXJkIn0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer s3cr3t-token-value", "s3cr3t-token-value"),
        ("headers={'Authorization': 'Basic dXNlcjpwYXNz'}", "dXNlcjpwYXNz"),
        ("sent Bearer abcdefgh12345", "abcdefgh12345"),
        (f"reviewed {TOKEN} twice", TOKEN),
        ("postgres://admin:hunter2@db.shop:5432/orders refused", "hunter2"),
        ("connect failed: password=hunter2 host=db", "hunter2"),
        ('{"password": "hunter two"}', "hunter two"),
        ("client-key-data: LS0tLS1CRUdJTiB", "LS0tLS1CRUdJTiB"),
        ("api_key=abc123;retry", "abc123"),
        ("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----", "MHcCAQEE"),
        ("-----BEGIN PRIVATE KEY-----\nMHcCAQEE (cut)", "MHcCAQEE"),
        ('{"kind":"Secret","data":{"user":"YWRtaW4="}}', "YWRtaW4="),
        ("{'kind': 'Secret', 'stringData': {'user': 'admin'}}", "'admin'"),
    ],
)
def test_a_secret_in_a_text_is_masked(text: str, secret: str) -> None:
    cleaned = redact_text(text)
    assert secret not in cleaned
    assert MASK in cleaned


@pytest.mark.parametrize(
    "text",
    [
        "Deployment shop/web is ready",
        "deleting Secret shop/web-values: the Tenant is gone",
        "the secret shop/db has no key password",
        "https://10.0.0.1:6443/api/v1/namespaces/shop/secrets was answered 404",
        "token review failed with 503",
    ],
)
def test_an_ordinary_text_is_not_changed(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        (
            {"kind": "Secret", "metadata": {"name": "a"}, "data": {"x": "eA=="}, "stringData": {"y": "z"}},
            {"kind": "Secret", "metadata": {"name": "a"}, "data": MASK, "stringData": MASK},
        ),
        ({"kind": "ConfigMap", "data": {"x": "y"}}, {"kind": "ConfigMap", "data": {"x": "y"}}),
        ({"items": [{"kind": "Secret", "data": {"x": "y"}}]}, {"items": [{"kind": "Secret", "data": MASK}]}),
        ({"Authorization": "Bearer x", "Accept": "json"}, {"Authorization": MASK, "Accept": "json"}),
        ({"db": {"password": "hunter2", "port": 5432}}, {"db": {"password": MASK, "port": 5432}}),
        ({"volumes": [{"secret": {"secretName": "tls"}}]}, {"volumes": [{"secret": {"secretName": "tls"}}]}),
        (b"Bearer abcdefgh12345", f"Bearer {MASK}"),
        (7, 7),
    ],
)
def test_a_secret_in_a_structure_is_masked(value: Any, cleaned: Any) -> None:
    assert redact(value) == cleaned
