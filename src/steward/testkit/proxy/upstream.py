"""The test kit's own connection to the API server: address and credentials of a kubeconfig's current context.

The fault proxy must not share code, and bugs, with the client under test. So this parses the kubeconfig itself, but
only the fields that local control planes write.
"""

import base64
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import yaml


class KubeconfigError(Exception):
    """The kubeconfig lacks an entry that the test kit needs; the message names the file and the entry."""


@dataclass(frozen=True)
class Upstream:
    """The URL of an API server, and the credentials to use there."""

    url: str
    trust: ssl.SSLContext = field(repr=False)
    identity: ssl.SSLContext = field(repr=False)
    token: str = field(default="", repr=False)

    def session(self) -> aiohttp.ClientSession:
        """A session with the kubeconfig's credentials."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return _session(self.identity, headers)

    def bare_session(self) -> aiohttp.ClientSession:
        """A session for calls with their own Authorization header: a client certificate would take precedence."""
        return _session(self.trust, {})


def read_upstream(kubeconfig: Path | str) -> Upstream:
    """Read the current context of one kubeconfig file."""
    path = Path(kubeconfig)
    config = yaml.safe_load(path.read_text())
    context = _named(path, config, "context", config.get("current-context", ""))
    cluster = _named(path, config, "cluster", context["cluster"])
    user = _named(path, config, "user", context["user"])
    authority = _blob(path, cluster, "certificate-authority")
    if authority is None:
        raise KubeconfigError(f"{path}: cluster {context['cluster']} has no certificate-authority")
    trust, identity = (ssl.create_default_context(cadata=authority.decode()) for _ in range(2))
    _load_client_certificate(path, user, identity)
    return Upstream(cluster["server"].rstrip("/"), trust, identity, user.get("token", ""))


def _named(path: Path, config: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    for entry in config.get(f"{kind}s") or ():
        if entry["name"] == name:
            found: dict[str, Any] = entry[kind]
            return found
    raise KubeconfigError(f"{path}: no {kind} named {name!r}")


def _blob(path: Path, entry: dict[str, Any], key: str) -> bytes | None:
    """A value given inline (`key-data`) or as a file, relative to the kubeconfig."""
    if data := entry.get(f"{key}-data"):
        return base64.b64decode(data)
    if file := entry.get(key):
        return Path(path.parent, file).read_bytes()
    return None


def _load_client_certificate(path: Path, user: dict[str, Any], context: ssl.SSLContext) -> None:
    certificate, key = (_blob(path, user, part) for part in ("client-certificate", "client-key"))
    if certificate is None or key is None:
        return
    # The ssl module reads keys only from files; this one is private and deleted at once.
    with tempfile.NamedTemporaryFile() as file:
        file.write(certificate + b"\n" + key)
        file.flush()
        context.load_cert_chain(file.name)


def _session(context: ssl.SSLContext, headers: dict[str, str]) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=context),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        headers=headers,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
    )
