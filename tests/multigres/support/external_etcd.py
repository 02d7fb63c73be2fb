"""A real etcd for clusters that name external topology servers, behind all the host names that they give it."""

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from steward.certificates.authority import Subject
from steward.kube.objects.kinds import Manifest
from steward.local import certificates
from steward.local.certificates import Leaf
from tests.etcd.support.etcd_process import running_etcd

KEYS = ("ca.crt", "tls.crt", "tls.key")


class ExternalEtcd(NamedTuple):
    """How clients on this machine reach it (`--connect-to`), and the directory of their certificates."""

    forwards: tuple[str, ...]
    certificates: Path

    def secret(self, name: str, namespace: str, **more: str) -> Manifest:
        """With the certificates of a client, as users write it for their own etcd."""
        data = {key: (self.certificates / key).read_text() for key in KEYS}
        metadata = {"name": name, "namespace": namespace}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {**data, **more}}


@contextmanager
def running_external_etcd(directory: Path, endpoints: Sequence[str]) -> Iterator[ExternalEtcd]:
    """With TLS, for clients with a certificate only."""
    hosts = [urlsplit(endpoint) for endpoint in endpoints]
    made = certificates.ensure(directory / "pki")
    server = Leaf(
        "external-etcd", Subject("external-etcd"), tuple(f"{host.hostname}" for host in hosts), ("127.0.0.1",)
    )
    certificates.ensure_leaves(made, [server])
    pair, client = made.client(server.name), made.client("etcd-client")
    flags = ["--cert-file", pair.certificate, "--key-file", pair.key]
    flags += ["--client-cert-auth", "--trusted-ca-file", made.ca.certificate]
    for key, file in zip(KEYS, (made.ca.certificate, client.certificate, client.key), strict=True):
        shutil.copy(file, directory / key)
    loop = asyncio.new_event_loop()
    process = running_etcd(directory, "https", *map(str, flags))
    url = urlsplit(loop.run_until_complete(process.__aenter__()))
    forwards = tuple(f"{host.hostname}:{host.port}:{url.hostname}:{url.port}" for host in hosts)
    try:
        yield ExternalEtcd(forwards, directory)
    finally:
        loop.run_until_complete(process.__aexit__(None, None, None))
        loop.close()
