"""Downloads a real MySQL server with all its libraries, beside whatever the system has.

Debian's stable releases have MariaDB only, and packages of the two conflict. MySQL is therefore taken from the unstable
suite and unpacked into a directory of its own, with the libraries that it was built with; apt reads a state directory
of its own, so that nothing of the system changes. The repository is the one that this machine uses already.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

PACKAGE: Final = "mysql-server-core"
SUITE: Final = "sid"
KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class MySqlUnavailable(Exception):
    """This machine cannot get MySQL; the message says what is missing."""


def download(directory: Path) -> list[Path]:
    """The packages of MySQL and of everything that it needs, in a directory that keeps them."""
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise MySqlUnavailable(f"{program} is missing: the MySQL tests need a Debian system")
    archives = directory / "cache" / "archives"
    for part in (directory / "lists" / "partial", archives / "partial"):
        part.mkdir(parents=True, exist_ok=True)
    targets = _run("apt-get", "indextargets", "Identifier: Packages")
    repository = debian_repository(targets, platform.freedesktop_os_release())
    sources = directory / "unstable.sources"
    sources.write_text(sources_entry(repository))
    options = [option for pair in _options(directory, sources) for option in ("-o", pair)]
    _run("apt-get", *options, "--quiet", "update")
    # Old versions would be unpacked over new ones.
    for package in archives.glob("*.deb"):
        package.unlink()
    _run(
        "apt-get",
        *options,
        "--quiet",
        "--yes",
        "--no-install-recommends",
        "--download-only",
        "install",
        PACKAGE,
    )
    return sorted(archives.glob("*.deb"))


def unpack(packages: list[Path], root: Path) -> None:
    for package in packages:
        _run("dpkg-deb", "--extract", str(package), str(root))


def debian_repository(targets: str, system: Mapping[str, str]) -> str:
    """The address of the main repository of the system, from the output of `apt-get indextargets`."""
    if system.get("ID") != "debian":
        raise MySqlUnavailable("this is not Debian: the MySQL tests need its unstable suite")
    for target in _stanzas(targets):
        if (target.get("Release"), target.get("Component")) == (system.get("VERSION_CODENAME"), "main"):
            return target["Repo-URI"]
    raise MySqlUnavailable("apt has no source for the main repository of this Debian release")


def sources_entry(repository: str) -> str:
    signed_by = f"Signed-By: {KEYRING}\n" if KEYRING.exists() else ""
    return f"Types: deb\nURIs: {repository}\nSuites: {SUITE}\nComponents: main\n{signed_by}"


def _stanzas(text: str) -> Iterator[dict[str, str]]:
    for stanza in text.strip().split("\n\n"):
        lines = (line.partition(":") for line in stanza.splitlines())
        yield {name: value.strip() for name, _, value in lines}


def _options(directory: Path, sources: Path) -> Iterator[str]:
    yield f"Dir::Etc::SourceList={sources}"
    yield "Dir::Etc::SourceParts=/dev/null"
    yield f"Dir::State::Lists={directory / 'lists'}"
    yield f"Dir::Cache={directory / 'cache'}"
    # Nothing counts as installed: the libraries of the system are too old.
    yield "Dir::State::status=/dev/null"
    yield "Debug::NoLocking=1"
    yield "APT::Sandbox::User="
    # Some images delete packages after each run of apt.
    yield "APT::Keep-Downloaded-Packages=true"


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise MySqlUnavailable(f"`{' '.join(command)}` failed:\n{done.stderr[-2000:]}")
    return done.stdout
