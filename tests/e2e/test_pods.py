"""What only real containers show: DNS, Services, logs, exec, webhooks behind a Service, SIGTERM, volumes, zones."""

from __future__ import annotations

import time
import urllib.request

from tests.e2e.support.container_cluster import ContainerCluster, python_container

# A server listens, and its Service has rules, a moment after its container has started.
FETCH = """
import time, urllib.request
for _ in range(200):
    try:
        print(urllib.request.urlopen({url!r}, timeout=5).read().decode())
        break
    except OSError:
        time.sleep(0.1)
"""
RESOLVE = "import socket; print(socket.gethostbyname({name!r}))"


def test_pods_reach_a_service_by_name_and_so_does_the_machine_by_address(
    cluster: ContainerCluster, pods: str
) -> None:
    cluster.start_pod(pods, "server")
    cluster.expose(pods, "server", 80, 8080)
    cluster.start_pod(pods, "client", containers=[python_container()])
    cluster.wait_until_ready(pods, "server")
    cluster.wait_until_ready(pods, "client")
    for name in ("server", f"server.{pods}", f"server.{pods}.svc.cluster.local"):
        assert cluster.python(pods, "client", FETCH.format(url=f"http://{name}/")) == "ok"
    address = cluster.kubectl.json("get", "service", "server", "-n", pods)["spec"]["clusterIP"]
    assert urllib.request.urlopen(f"http://{address}/", timeout=5).read() == b"ok\n"


def test_a_pod_reaches_itself_through_its_service(cluster: ContainerCluster, pods: str) -> None:
    serve = "import http.server as s; s.HTTPServer(('', 8080), s.SimpleHTTPRequestHandler).serve_forever()"
    cluster.start_pod(pods, "self", containers=[python_container(serve, workingDir="/tmp")])
    cluster.expose(pods, "self", 80, 8080)
    cluster.wait_until_ready(pods, "self")
    # The short name is also the pod's own, in its hosts file.
    assert "Directory listing" in cluster.python(pods, "self", FETCH.format(url=f"http://self.{pods}/"))


def test_pods_resolve_the_api_server_and_no_names_of_the_internet(
    cluster: ContainerCluster, pods: str
) -> None:
    cluster.start_pod(pods, "client", containers=[python_container()])
    cluster.wait_until_ready(pods, "client")
    assert cluster.python(pods, "client", RESOLVE.format(name="kubernetes.default.svc")) == "10.96.0.1"
    failed = cluster.kubectl.expect_rejection(
        "exec", "-n", pods, "client", "--", "python3", "-c", RESOLVE.format(name="example.com")
    )
    assert "gaierror" in failed


def test_pods_reach_the_api_server_with_their_own_account(cluster: ContainerCluster, pods: str) -> None:
    script = (
        "import ssl, urllib.request as u; d = '/var/run/secrets/kubernetes.io/serviceaccount/'; "
        "r = u.Request('https://kubernetes.default.svc/apis', headers={'Authorization': 'Bearer ' + "
        "open(d + 'token').read()}); "
        "print(u.urlopen(r, context=ssl.create_default_context(cafile=d + 'ca.crt'), timeout=5).status)"
    )
    cluster.start_pod(pods, "client", containers=[python_container()])
    cluster.wait_until_ready(pods, "client")
    assert cluster.python(pods, "client", script) == "200"


def test_logs_and_exec_reach_a_container(cluster: ContainerCluster, pods: str) -> None:
    cluster.start_pod(pods, "server")
    cluster.wait_until_ready(pods, "server")
    assert "started as uid 65532" in cluster.kubectl("logs", "-n", pods, "server")
    cluster.start_pod(pods, "client", containers=[python_container()])
    cluster.wait_until_ready(pods, "client")
    assert cluster.python(pods, "client", "import os; print(os.getpid() > 1, os.getuid())") == "True 65532"


def test_a_deleted_pod_gets_sigterm_and_its_grace_period(cluster: ContainerCluster, pods: str) -> None:
    stops = {"name": "main", "image": "steward.local/workload:1", "args": ["-stop=2s"]}
    cluster.start_pod(pods, "stopping", containers=[stops])
    cluster.wait_until_ready(pods, "stopping")
    began = time.monotonic()
    cluster.kubectl.run("delete", "pod", "stopping", "-n", pods, "--wait")
    assert 2.0 <= time.monotonic() - began < 20.0, "neither killed at once nor after the whole grace period"


def test_a_container_that_fails_its_probe_is_restarted(cluster: ContainerCluster, pods: str) -> None:
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1, "failureThreshold": 1}
    failing = {
        "name": "main",
        "image": "steward.local/workload:1",
        "args": ["-fail-health-after=2"],
        "livenessProbe": probe,
    }
    cluster.start_pod(pods, "failing", containers=[failing])
    cluster.wait_for_restart(pods, "failing")


def test_every_zone_runs_pods_that_reach_each_other(cluster: ContainerCluster, pods: str) -> None:
    for zone in ("z1", "z2"):
        cluster.start_pod(
            pods,
            f"in-{zone}",
            containers=[python_container(), {"name": "server", "image": "steward.local/workload:1"}],
            nodeSelector={"topology.kubernetes.io/zone": zone},
        )
    found = {zone: cluster.wait_until_ready(pods, f"in-{zone}") for zone in ("z1", "z2")}
    assert [found[zone]["spec"]["nodeName"] for zone in ("z1", "z2")] == ["node-1", "node-2"]
    addresses = {zone: pod["status"]["podIP"] for zone, pod in found.items()}
    for here, there in (("z1", "z2"), ("z2", "z1")):
        fetch = FETCH.format(url=f"http://{addresses[there]}:8080/")
        shown = cluster.kubectl("exec", "-n", pods, f"in-{here}", "-c", "main", "--", "python3", "-c", fetch)
        assert shown.strip() == "ok"


def test_a_user_writes_to_its_volume_and_finds_it_after_a_restart_of_the_pod(
    cluster: ContainerCluster, pods: str
) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": pods},
    }
    cluster.kubectl("apply", "--server-side", "-f", "-", document=claim | {"spec": spec})
    pod = {
        "containers": [python_container(volumeMounts=[{"name": "data", "mountPath": "/data"}])],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        "securityContext": {"runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 2000},
    }
    cluster.start_pod(pods, "writer", **pod)
    cluster.wait_until_ready(pods, "writer")
    cluster.python(pods, "writer", "open('/data/x', 'w').write('kept')")
    cluster.kubectl.run("delete", "pod", "writer", "-n", pods, "--wait", "--grace-period=1")
    cluster.start_pod(pods, "reader", **pod)
    cluster.wait_until_ready(pods, "reader")
    shown = cluster.python(
        pods, "reader", "import os; print(open('/data/x').read(), os.stat('/data/x').st_gid)"
    )
    assert shown == "kept 2000"
