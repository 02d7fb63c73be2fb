import base64

import pytest
import yaml

from steward.testkit.proxy.upstream import KubeconfigError, read_upstream
from tests.support.yaml_text import load_yaml


def rewrite(path, change):
    config = load_yaml(path.read_text())
    change(config)
    path.write_text(yaml.safe_dump(config))
    return path


def test_credentials_may_be_inline(fake_api_server):
    def inline(config):
        user, cluster = config["users"][0]["user"], config["clusters"][0]["cluster"]
        for entry in (user, cluster):
            for key in [key for key in entry if key.startswith(("client", "certificate"))]:
                content = (fake_api_server.directory / entry.pop(key)).read_bytes()
                entry[f"{key}-data"] = base64.b64encode(content).decode()

    assert read_upstream(rewrite(fake_api_server.kubeconfig, inline)).url == fake_api_server.url


def test_a_token_is_used_and_not_in_the_repr(fake_api_server):
    def token(config):
        config["users"][0]["user"] = {"token": "very-secret"}

    upstream = read_upstream(rewrite(fake_api_server.kubeconfig, token))
    assert upstream.token == "very-secret"
    assert "very-secret" not in repr(upstream)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("current-context", "other", "no context named 'other'"),
        ("users", [], "no user named 'u'"),
        ("clusters", [{"name": "c", "cluster": {"server": "https://x"}}], "has no certificate-authority"),
    ],
)
def test_a_missing_entry_is_named(fake_api_server, key, value, sentence):
    path = rewrite(fake_api_server.kubeconfig, lambda config: config.update({key: value}))
    with pytest.raises(KubeconfigError, match=sentence):
        read_upstream(path)
