"""An external topology server with mutual TLS, used by the operator and all components."""

import asyncio
import json
import ssl
from pathlib import Path
from typing import Any

from steward.etcd.client import Endpoints, EtcdClient
from steward.kube.objects.kinds import Manifest
from steward.local import certificates
from steward.local.control_plane import ControlPlane
from tests.etcd.support.etcd_process import running_etcd, wait_until_reachable
from tests.multigres.support.clusters import conditions, small_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

UNREACHABLE = "https://127.0.0.1:1"
COMPONENTS = {"multiadmin", "multigateway", "multiorch", "multipooler"}


def secret(namespace: str, name: str, **data: Path) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    content = {key.replace("_", "."): path.read_text() for key, path in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": content}


def containers(kubectl: Kubectl, namespace: str) -> dict[str, Any]:
    """The containers of all workloads, by name."""
    found = kubectl.json("get", "deployments,statefulsets", "-n", namespace)["items"]
    pods = [item["spec"]["template"]["spec"] for item in found]
    every = [each for pod in pods for each in (*pod.get("initContainers", []), *pod["containers"])]
    return {each["name"]: each for each in every}


async def test_the_operator_and_every_component_reach_an_external_etcd_with_their_certificates(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    made = certificates.ensure(tmp_path / "pki")
    own = made.client("admin")
    flags = ["--cert-file", made.server.certificate, "--key-file", made.server.key]
    flags += ["--client-cert-auth", "--trusted-ca-file", made.ca.certificate]
    trusting = ssl.create_default_context(cafile=made.ca.certificate)
    trusting.load_cert_chain(own.certificate, own.key)
    kubectl("create", "-f", "-", document=secret(namespace, "etcd-ca", ca_crt=made.ca.certificate))
    client = secret(namespace, "etcd-client", tls_crt=own.certificate, tls_key=own.key)
    kubectl("create", "-f", "-", document=client)
    async with running_etcd(tmp_path, "https", *map(str, flags)) as url:
        await wait_until_reachable(Endpoints([url], tls=trusting))
        external = {"endpoints": [UNREACHABLE, url], "caSecret": "etcd-ca", "clientCertSecret": "etcd-client"}
        kubectl(
            "create",
            "-f",
            "-",
            document=small_cluster(namespace, "mini", globalTopoServer={"external": external}),
        )
        with running_operator(control_plane, namespace, tmp_path / "operator.log"):
            await asyncio.to_thread(_until_registered, kubectl, namespace)
        async with EtcdClient(Endpoints([url], tls=trusting)) as etcd:
            root = f"/multigres/{namespace}/mini/global"
            assert await etcd.get(f"{root}/cells/z1/Cell") is not None
            assert await etcd.get(f"{root}/databases/postgres/Database") is not None
    found = containers(kubectl, namespace)
    assert found.keys() >= COMPONENTS
    for name in COMPONENTS:
        reported = json.dumps(found[name])
        assert f"--topo-global-server-addresses={UNREACHABLE},{url}" in reported
        for flag in ("--topo-etcd-tls-ca=", "--topo-etcd-tls-cert=", "--topo-etcd-tls-key="):
            assert flag in reported, name


def _until_registered(kubectl: Kubectl, namespace: str) -> None:
    def registered() -> bool:
        return bool(
            conditions(kubectl, namespace, "mini").get("TopologyRegistered", {}).get("status") == "True"
        )

    eventually(registered, "the records in the external etcd")
    eventually(lambda: containers(kubectl, namespace).keys() >= COMPONENTS, "every component")
