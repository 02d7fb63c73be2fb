"""Where MySQL comes from."""

import pytest

from tests.support.mysql_packages import MySqlUnavailable, debian_repository, sources_entry

DEBIAN = {"ID": "debian", "VERSION_CODENAME": "bookworm"}
TARGETS = """\
MetaKey: main/binary-amd64/Packages
Component: main
Release: bookworm-security
Repo-URI: https://mirror.example/debian-security/

MetaKey: contrib/binary-amd64/Packages
Component: contrib
Release: bookworm
Repo-URI: https://mirror.example/contrib/

MetaKey: main/binary-amd64/Packages
Component: main
Release: bookworm
Repo-URI: https://mirror.example/debian/
"""


def test_the_repository_is_the_one_of_the_system() -> None:
    assert debian_repository(TARGETS, DEBIAN) == "https://mirror.example/debian/"


@pytest.mark.parametrize(
    ("targets", "system", "reason"),
    [
        (TARGETS, {"ID": "ubuntu", "VERSION_CODENAME": "bookworm"}, "not Debian"),
        (TARGETS, {"ID": "debian", "VERSION_CODENAME": "trixie"}, "no source"),
        ("", DEBIAN, "no source"),
    ],
)
def test_a_system_without_it_is_named_as_the_cause(targets: str, system: dict[str, str], reason: str) -> None:
    with pytest.raises(MySqlUnavailable, match=reason):
        debian_repository(targets, system)


def test_packages_are_taken_from_the_unstable_suite_only() -> None:
    lines = sources_entry("https://mirror.example/debian/").splitlines()
    assert lines[:4] == [
        "Types: deb",
        "URIs: https://mirror.example/debian/",
        "Suites: sid",
        "Components: main",
    ]
