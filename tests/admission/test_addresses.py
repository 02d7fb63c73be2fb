"""Listen addresses and URLs of webhooks."""

import pytest

from steward.admission.addresses import ListenAddress, host_names, url_with_port
from steward.admission.errors import ListenError


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [(":9443", None, 9443), ("127.0.0.1:1", "127.0.0.1", 1), ("[::1]:9443", "::1", 9443)],
)
def test_an_address_is_a_host_and_a_port(address, host, port):
    assert ListenAddress.parse(address) == (host, port)


@pytest.mark.parametrize("address", ["9443", "host", ":none", ":70000"])
def test_an_invalid_address_is_an_error(address):
    with pytest.raises(ListenError, match="is no address to listen on"):
        ListenAddress.parse(address)


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("https://127.0.0.1:9443", ((), ("127.0.0.1",))),
        ("https://[::1]:9443/", ((), ("::1",))),
        ("https://host.example.com:9443", (("host.example.com",), ())),
    ],
)
def test_a_certificate_is_for_the_host_of_the_url(url, names):
    assert host_names(url) == names


@pytest.mark.parametrize("url", ["http://host:1", "https://", "https://host/path", "host:9443"])
def test_an_invalid_webhook_url_is_an_error(url):
    with pytest.raises(ListenError, match="write https://HOST:PORT"):
        host_names(url)


@pytest.mark.parametrize(
    ("url", "reachable"),
    [
        ("https://h:0", "https://h:77"),
        ("https://h:9443/", "https://h:9443"),
        ("https://[::1]:0", "https://[::1]:77"),
    ],
)
def test_port_0_is_replaced_by_the_actual_port(url, reachable):
    assert url_with_port(url, 77) == reachable
