"""The API server, a process of the machine, calls a webhook behind a Service."""

from __future__ import annotations

import base64
import time

from steward.certificates.authority import KeyPair, Profile, Subject, Validity, make_authority, sign_leaf
from tests.e2e.support.container_cluster import ContainerCluster, python_container
from tests.e2e.support.waiting import eventually

SERVER = """
import http.server, json, ssl

class Review(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        response = {"uid": request["uid"], "allowed": False, "status": {"message": "denied in a pod"}}
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

server = http.server.HTTPServer(("", 8443), Review)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/certificate/tls.crt", "/certificate/tls.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def test_a_webhook_behind_a_service_is_called(cluster: ContainerCluster, pods: str) -> None:
    now = time.time()
    authority = make_authority(Subject("e2e"), Validity(now - 60, now + 3600))
    profile = Profile(Subject("hook"), (f"hook.{pods}.svc",))
    start_server(cluster, pods, sign_leaf(authority, profile, Validity(now - 60, now + 3600)))
    register(cluster, pods, authority)
    refused = eventually(lambda: rejection(cluster, pods), "the webhook answers")
    assert "denied in a pod" in refused
    cluster.kubectl("delete", "validatingwebhookconfiguration", pods)


def start_server(cluster: ContainerCluster, pods: str, pair: KeyPair) -> None:
    data = {"tls.crt": encoded(pair.certificate), "tls.key": encoded(pair.key)}
    metadata = {"name": "certificate", "namespace": pods}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
    cluster.kubectl("apply", "--server-side", "-f", "-", document=secret)
    mounts = [{"name": "certificate", "mountPath": "/certificate"}]
    volumes = [{"name": "certificate", "secret": {"secretName": "certificate"}}]
    cluster.start_pod(
        pods, "hook", containers=[python_container(SERVER, volumeMounts=mounts)], volumes=volumes
    )
    cluster.expose(pods, "hook", 443, 8443)
    cluster.wait_until_ready(pods, "hook")


def register(cluster: ContainerCluster, pods: str, authority: KeyPair) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    service = {"namespace": pods, "name": "hook", "path": "/"}
    webhook = {
        "name": "hook.e2e.local",
        "clientConfig": {"service": service, "caBundle": encoded(authority.certificate)},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": pods}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
    }
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": pods},
        "webhooks": [webhook],
    }
    cluster.kubectl("apply", "--server-side", "-f", "-", document=configuration)


def rejection(cluster: ContainerCluster, pods: str) -> str:
    """Empty until the API server knows of the webhook and its server listens."""
    _, error = cluster.kubectl.run("create", "configmap", "refused", "-n", pods, "--dry-run=server")
    return error if "denied" in error else ""


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()
