import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from steward.kube.config.kubeconfig import parse_kubeconfig
from steward.kube.config.loader import ConfigSource, load_settings, settings_of
from steward.kube.config.settings import AuthSettings, ConnectionSettings, Impersonation, Pem
from steward.kube.errors import ConfigError

PEM = b"-----BEGIN CERTIFICATE-----"
DATA = base64.b64encode(PEM).decode()


def kubeconfig(
    cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **context: str
) -> str:
    content = {
        "current-context": "one",
        "clusters": [{"name": "c", "cluster": {"server": "https://api:6443", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [
            {"name": "one", "context": {"cluster": "c", "user": "u", **context}},
            {"name": "two", "context": {"cluster": "c", "user": "u", "namespace": "second"}},
            {"name": "lost", "context": {"cluster": "nowhere", "user": "u"}},
        ],
    }
    return yaml.safe_dump(content)


def settings(
    cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, context: str = ""
) -> ConnectionSettings:
    return settings_of(parse_kubeconfig(kubeconfig(cluster, user).encode(), Path("/conf")), context)


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), **more}


def test_a_named_file_wins_over_kubeconfig_and_home(tmp_path: Path) -> None:
    (tmp_path / "named").write_text(kubeconfig(namespace="named"))
    (tmp_path / "listed").write_text(kubeconfig(namespace="listed"))
    source = ConfigSource(
        kubeconfig=str(tmp_path / "named"), environ=environ(tmp_path, KUBECONFIG=str(tmp_path / "listed"))
    )
    assert load_settings(source).namespace == "named"


def test_kubeconfig_may_list_files_some_of_them_missing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("current-context: two")
    (tmp_path / "b").write_text(kubeconfig())
    listed = f"{tmp_path}/missing:{tmp_path}/a::{tmp_path}/b"
    assert load_settings(ConfigSource(environ=environ(tmp_path, KUBECONFIG=listed))).namespace == "second"


def test_the_file_at_home_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "home/.kube").mkdir(parents=True)
    (tmp_path / "home/.kube/config").write_text(kubeconfig(namespace="home"))
    assert load_settings(ConfigSource(environ=environ(tmp_path))).namespace == "home"


def test_without_a_kubeconfig_the_service_account_is_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    pod = environ(tmp_path, KUBERNETES_SERVICE_HOST="10.0.0.1", KUBERNETES_SERVICE_PORT="443")
    found = load_settings(ConfigSource(environ=pod, service_account=tmp_path))
    assert found.server == "https://10.0.0.1:443"


def test_a_kubeconfig_wins_over_the_service_account(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    (tmp_path / "conf").write_text(kubeconfig())
    pod = environ(
        tmp_path,
        KUBERNETES_SERVICE_HOST="10.0.0.1",
        KUBERNETES_SERVICE_PORT="443",
        KUBECONFIG=str(tmp_path / "conf"),
    )
    assert load_settings(ConfigSource(environ=pod, service_account=tmp_path)).server == "https://api:6443"


def test_without_any_configuration_the_error_lists_the_searched_paths(tmp_path: Path) -> None:
    source = ConfigSource(environ=environ(tmp_path), service_account=tmp_path)
    with pytest.raises(ConfigError, match=r"home/.kube/config, and this is not a pod. Set KUBECONFIG"):
        load_settings(source)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no kubeconfig at"):
        load_settings(ConfigSource(kubeconfig=str(tmp_path / "no")))


def test_a_context_may_be_chosen() -> None:
    assert settings(context="two").namespace == "second"
    assert settings().namespace == "default"
    assert settings(context="two").origin == "context 'two' of /conf"


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("nope", r"/conf has no context 'nope' \(it has: lost, one, two\)"),
        ("lost", r"/conf has no cluster 'nowhere' \(it has: c\)"),
    ],
)
def test_a_missing_entry_is_named_beside_those_there_are(context: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        settings(context=context)


def test_a_config_without_current_context_is_an_error_with_the_cure() -> None:
    with pytest.raises(ConfigError, match="kubectl config use-context"):
        settings_of(parse_kubeconfig(b"clusters: [{name: c}]", Path("/conf")))


def test_server_and_tls_settings_come_from_the_cluster_entry() -> None:
    found = settings(
        {"certificate-authority-data": DATA, "tls-server-name": "other", "proxy-url": "http://p:1"}
    )
    assert found.tls.authority == Pem(data=PEM)
    assert (found.tls.server_name, found.proxy, found.tls.insecure) == ("other", "http://p:1", False)
    assert settings({"insecure-skip-tls-verify": True}).tls.insecure


def test_inline_data_wins_over_files_and_may_be_folded() -> None:
    folded = DATA[:10] + "\n  " + DATA[10:]
    user = {"client-certificate-data": folded, "client-certificate": "/gone", "client-key-data": DATA}
    found = settings(user=user).tls
    assert (found.certificate, found.key) == (Pem(data=PEM), Pem(data=PEM))


@pytest.mark.parametrize(
    ("server", "cluster", "expected"),
    [
        ("api:6443", {}, "http://api:6443"),
        ("api:6443", {"certificate-authority-data": DATA}, "https://api:6443"),
        ("api:6443", {"insecure-skip-tls-verify": True}, "https://api:6443"),
        ("https://rancher/k8s/clusters/c-1", {}, "https://rancher/k8s/clusters/c-1"),
    ],
)
def test_a_server_without_scheme_is_guessed_as_kubectl_does(
    server: str, cluster: dict[str, Any], expected: str
) -> None:
    assert settings({"server": server, **cluster}).server == expected


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({"token": "t"}, AuthSettings(token="t")),
        ({"token": "t", "tokenFile": "/t"}, AuthSettings(token="t", token_file="/t")),
        ({"username": "u", "password": "p"}, AuthSettings(username="u", password="p")),
        ({}, AuthSettings()),
    ],
)
def test_credentials_come_from_the_user_entry(user: dict[str, Any], expected: AuthSettings) -> None:
    assert settings(user=user).auth == expected


def test_credentials_are_not_sent_in_the_clear() -> None:
    assert settings({"server": "http://api:8080"}, {"token": "t"}).auth == AuthSettings()


def test_impersonation_is_read_with_its_companions() -> None:
    user = {"as": "eve", "as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": {"scope": ["x"]}}
    expected = Impersonation(user="eve", uid="7", groups=("a", "b"), extra={"scope": ("x",)})
    assert settings(user=user).impersonation == expected
    assert settings().impersonation is None


def test_a_plugin_gets_cluster_info_when_its_entry_asks_for_it() -> None:
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "p",
        "args": ["a"],
        "env": [{"name": "N", "value": "v"}],
        "installHint": "brew install p",
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {
        "certificate-authority-data": DATA,
        "extensions": [extension, {"name": "other", "extension": {}}],
    }
    found = settings(cluster, {"exec": plugin}).auth.plugin
    assert found is not None
    assert (found.command, found.args, found.env) == ("p", ("a",), {"N": "v"})
    assert (found.install_hint, found.interactive_mode) == ("brew install p", "Never")
    assert found.cluster == {
        "server": "https://api:6443",
        "certificate-authority-data": DATA,
        "config": {"audience": "x"},
    }
    silent = settings(cluster, {"exec": {**plugin, "provideClusterInfo": False}}).auth.plugin
    assert silent is not None
    assert silent.cluster is None


def test_a_plugin_gets_the_content_of_an_authority_file(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(PEM)
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "p",
        "provideClusterInfo": True,
    }
    found = settings({"certificate-authority": str(tmp_path / "ca.crt")}, {"exec": plugin}).auth.plugin
    assert found is not None
    assert found.cluster == {"server": "https://api:6443", "certificate-authority-data": DATA}


@pytest.mark.parametrize(
    ("cluster", "user", "message"),
    [
        ({"server": ""}, {}, "cluster 'c' of /conf has no server"),
        ({"certificate-authority": "/gone/ca.crt"}, {}, "names /gone/ca.crt, which does not exist"),
        ({"certificate-authority-data": "%%"}, {}, "not base64"),
        (
            {"certificate-authority-data": DATA, "insecure-skip-tls-verify": True},
            {},
            "both a certificate-authority and insecure-skip-tls-verify; keep the first",
        ),
        ({"proxy-url": "socks5://p:1"}, {}, "SOCKS proxy, which is not supported"),
        (
            {},
            {"auth-provider": {"name": "gcp"}},
            "auth-provider 'gcp', which Kubernetes has removed; use the cloud's",
        ),
        ({}, {"token": "t", "username": "u"}, "user 'u' of /conf has a token and a password; keep one"),
        ({}, {"as-groups": ["a"]}, "as-groups or as-user-extra without `as`"),
        ({}, {"client-certificate-data": DATA}, "has a client certificate but no client-key"),
        ({}, {"exec": {"command": "p"}}, "needs command and apiVersion"),
        (
            {},
            {"exec": {"command": "p", "apiVersion": "client.authentication.k8s.io/v1"}},
            "needs interactiveMode: Never, IfAvailable or Always",
        ),
    ],
)
def test_an_invalid_entry_is_reported_with_its_name_and_the_cure(
    cluster: dict[str, Any], user: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        settings(cluster, user)


def test_v1beta1_plugins_need_no_interactive_mode() -> None:
    plugin = {"command": "p", "apiVersion": "client.authentication.k8s.io/v1beta1"}
    found = settings(user={"exec": plugin}).auth.plugin
    assert found is not None
    assert found.interactive_mode == "IfAvailable"


def test_no_secret_shows_in_a_printed_setting() -> None:
    user = {"token": "s3cret-token", "client-certificate-data": DATA, "client-key-data": DATA}
    shown = repr(settings(user=user)) + repr(settings(user={"username": "u", "password": "s3cret-word"}))
    assert "s3cret" not in shown
    assert "BEGIN" not in shown
