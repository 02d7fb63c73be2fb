"""Access to a topology server: its endpoints, and TLS from Secrets. Secrets are read when they are needed and never
cached, so that a renewed certificate is used at the next check."""

import base64
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec import UNSET

from steward.etcd.client import Endpoints
from steward.etcd.memory import AnswerMemory
from steward.kube.client.client import Client
from steward.kube.errors import ApiError
from steward.kube.objects.kinds import SECRET, Key
from steward.multigres.api.topo import TopoReference
from steward.runtime.manager.connect_to import Redirect

CA, CERTIFICATE, PRIVATE_KEY = "ca.crt", "tls.crt", "tls.key"


class SecretUnusable(Exception):
    """A Secret for TLS is missing, may not be read, or does not hold what it should; the message names it."""


class TopologyAccess:
    def __init__(self, client: Client, redirect: Redirect) -> None:
        self._client = client
        self._redirect = redirect
        self._memory = AnswerMemory()

    async def endpoints(self, namespace: str, reference: TopoReference) -> Endpoints:
        tls = await self._tls(namespace, reference)
        return Endpoints(reference.address.split(","), tls, self._redirect, memory=self._memory)

    async def _tls(self, namespace: str, reference: TopoReference) -> ssl.SSLContext | None:
        if reference.ca_secret is UNSET and reference.client_cert_secret is UNSET:
            return None
        context = ssl.create_default_context()
        if reference.ca_secret is not UNSET:
            await self._trust(context, Key(namespace, reference.ca_secret))
        if reference.client_cert_secret is not UNSET:
            await self._load_client_certificate(context, Key(namespace, reference.client_cert_secret))
        return context

    async def _trust(self, context: ssl.SSLContext, secret: Key) -> None:
        data = await self._read(secret, CA)
        try:
            context.load_verify_locations(cadata=data[CA].decode("ascii", "replace"))
        except ssl.SSLError as error:
            raise SecretUnusable(f"{CA} of Secret {secret} is no certificate: {error}") from error

    async def _load_client_certificate(self, context: ssl.SSLContext, secret: Key) -> None:
        data = await self._read(secret, CERTIFICATE, PRIVATE_KEY)
        try:
            _load_pair(context, data)
        except ssl.SSLError as error:
            message = f"{CERTIFICATE} and {PRIVATE_KEY} of Secret {secret} are no certificate and its key"
            raise SecretUnusable(f"{message}: {error}") from error

    async def _read(self, secret: Key, *keys: str) -> Mapping[str, bytes]:
        try:
            data = (await self._client.get(SECRET, secret)).get("data") or {}
        except ApiError as error:
            raise SecretUnusable(f"Secret {secret} cannot be read: {error}") from error
        if missing := [key for key in keys if key not in data]:
            raise SecretUnusable(f"Secret {secret} has no {' and no '.join(missing)}")
        return {key: base64.b64decode(data[key]) for key in keys}


def _load_pair(context: ssl.SSLContext, pair: Mapping[str, bytes]) -> None:
    """The standard library reads key pairs only from files; the directory is private (0700)."""
    with tempfile.TemporaryDirectory() as directory:
        for name in (CERTIFICATE, PRIVATE_KEY):
            (Path(directory) / name).write_bytes(pair[name])
        # Without a password OpenSSL would ask for one on the terminal if the key is encrypted.
        context.load_cert_chain(Path(directory) / CERTIFICATE, Path(directory) / PRIVATE_KEY, password="")
