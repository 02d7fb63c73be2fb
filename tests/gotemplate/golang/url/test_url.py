"""net/url and net/netip."""

import pytest

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.url.escape import QUERY, escape, unescape
from steward.gotemplate.golang.url.netip import is_address
from steward.gotemplate.golang.url.url import Url, UserInfo, parse_url


def test_a_url_is_taken_apart_and_put_together() -> None:
    text = "https://user:pa%20ss@host.com:8080/p/a%2Fth?q=1#frag%20x"
    url = parse_url(text)
    assert (url.scheme, url.host, url.hostname()) == ("https", "host.com:8080", "host.com")
    assert (url.path, url.raw_query, url.fragment) == ("/p/a/th", "q=1", "frag x")
    assert url.user == UserInfo("user", "pa ss")
    assert str(url) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (":foo", 'parse ":foo": missing protocol scheme'),
        ("1http://x", 'parse "1http://x": first path segment in URL cannot contain colon'),
        ("http://a b/", 'parse "http://a b/": invalid character " " in host name'),
        ("http://a/%zz", 'parse "http://a/%zz": invalid URL escape "%zz"'),
        ("http://a:port/", 'parse "http://a:port/": invalid port ":port" after host'),
        ("http://a\n", 'parse "http://a\\n": net/url: invalid control character in URL'),
        ("http://[::1", "parse \"http://[::1\": missing ']' in host"),
        ("http://[1.2.3.4]/", 'parse "http://[1.2.3.4]/": invalid IP-literal'),
        (
            "http://[::g]/",
            'parse "http://[::g]/": invalid host: ParseAddr("::g"): '
            'each colon-separated field must have at least one digit (at "g")',
        ),
        ("http://us é@h/", 'parse "http://us é@h/": net/url: invalid userinfo'),
    ],
)
def test_a_bad_url_is_refused_in_go_words(text: str, words: str) -> None:
    with pytest.raises(GoError) as caught:
        parse_url(text)
    assert caught.value.text == words


def test_a_path_that_looks_like_a_scheme_gets_a_dot() -> None:
    assert str(Url(path="a:b")) == "./a:b"


def test_query_escaping_turns_blanks_into_plus() -> None:
    assert escape("a b&é", QUERY) == "a+b%26%C3%A9"
    assert unescape("a+b%ff", QUERY) == "a b\udcff"


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("1.2.3.4", True),
        ("::1", True),
        ("::ffff:1.2.3.4", True),
        ("01.2.3.4", False),
        ("fe80::1%eth0", False),
        ("x", False),
    ],
)
def test_addresses(text: str, valid: bool) -> None:
    assert is_address(text) is valid
