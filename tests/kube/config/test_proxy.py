import pytest

from steward.kube.config.proxy import choose_proxy
from steward.kube.errors import ConfigError

PROXY = "http://proxy.corp:3128"


@pytest.mark.parametrize(
    ("no_proxy", "server", "direct"),
    [
        ("", "https://api.example.com:6443", False),
        ("example.com", "https://api.example.com:6443", True),
        ("example.com", "https://example.com", True),
        ("EXAMPLE.com", "https://API.Example.COM", True),
        ("example.com", "https://notexample.com", False),
        (".example.com", "https://api.example.com", True),
        (".example.com", "https://example.com", False),
        ("*.example.com", "https://api.example.com", True),
        ("*.example.com", "https://example.com", False),
        ("other.com, example.com ,", "https://api.example.com", True),
        ("example.com:6443", "https://api.example.com:6443", True),
        ("example.com:443", "https://api.example.com", True),
        ("example.com:443", "https://api.example.com:6443", False),
        ("*", "https://anything", True),
        ("10.0.0.0/8", "https://10.96.0.1:443", True),
        ("10.0.0.0/8", "https://11.96.0.1:443", False),
        ("10.0.0.0/8", "https://api.example.com", False),
        ("10.96.0.1", "https://10.96.0.1", True),
        ("10.96.0.1:443", "https://10.96.0.1:6443", False),
        ("10.96.0.1", "https://110.96.0.1", False),
        ("fd00::/8", "https://[fd00::1]:6443", True),
        ("fd00::1", "https://[fd00::1]:6443", True),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", True),
        ("[fd00::1]:443", "https://[fd00::1]:6443", False),
        ("::ffff:10.96.0.1", "https://10.96.0.1", True),
        ("example.com", "https://example.com.", False),
        ("[fd00::1", "https://[fd00::1]", False),
        ("*example.com", "https://api.example.com", False),
        ("300.0.0.0/99", "https://10.0.0.1", False),
        ("", "https://localhost:6443", True),
        ("", "https://127.0.0.1:6443", True),
        ("", "https://127.8.8.8:6443", True),
        ("", "https://[::1]:6443", True),
    ],
)
def test_no_proxy_is_interpreted_as_in_go(no_proxy: str, server: str, direct: bool) -> None:
    environ = {"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy}
    assert choose_proxy(server, "", environ) == ("" if direct else PROXY)


@pytest.mark.parametrize(
    ("environ", "server", "proxy"),
    [
        ({"HTTPS_PROXY": PROXY}, "https://a.b", PROXY),
        ({"https_proxy": PROXY}, "https://a.b", PROXY),
        ({"HTTPS_PROXY": PROXY, "https_proxy": "http://other:1"}, "https://a.b", PROXY),
        ({"HTTP_PROXY": PROXY}, "https://a.b", ""),
        ({"HTTP_PROXY": PROXY}, "http://a.b", PROXY),
        ({"HTTPS_PROXY": "proxy.corp:3128"}, "https://a.b", PROXY),
        ({"https_proxy": PROXY, "no_proxy": "a.b"}, "https://a.b", ""),
        ({}, "https://a.b", ""),
    ],
)
def test_the_environment_names_the_proxy(environ: dict[str, str], server: str, proxy: str) -> None:
    assert choose_proxy(server, "", environ) == proxy


def test_proxy_url_takes_precedence_over_the_environment_without_exceptions() -> None:
    environ = {"HTTPS_PROXY": "http://other:1", "NO_PROXY": "*"}
    assert choose_proxy("https://127.0.0.1:6443", PROXY, environ) == PROXY


@pytest.mark.parametrize("url", ["socks5://p:1", "socks5h://p:1"])
def test_a_socks_proxy_is_rejected_with_the_cure(url: str) -> None:
    with pytest.raises(ConfigError, match="SOCKS proxy, which is not supported; use an http or https proxy"):
        choose_proxy("https://a.b", url, {})


def test_the_message_about_a_rejected_proxy_does_not_contain_its_password() -> None:
    with pytest.raises(ConfigError) as caught:
        choose_proxy("https://a.b", "ftp://user:s3cret@p:1", {})
    assert "s3cret" not in str(caught.value)
