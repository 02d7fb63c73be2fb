"""The image builds, is small, runs as an unprivileged user and on a read-only root."""

import base64
import os
import subprocess
import urllib.request
from pathlib import Path

import pytest
import yaml

from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.local.paths import cache_directory
from steward.local.ports import free_ports
from tests.install.support.image_root import ImageRoot, LayerCache
from tests.support.identities import operator_kubeconfig
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml
from tests.tenants.support.customers import until

pytestmark = pytest.mark.slow

MEBIBYTE = 1024**2


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> ImageRoot:
    assert os.geteuid() == 0, (
        "the image's steps run in a root directory of their own: run these tests as root"
    )
    made = ImageRoot(tmp_path_factory.mktemp("image"), (ROOT / "Dockerfile").read_text())
    made.build(LayerCache(cache_directory() / "image-layers"))
    return made


def test_the_entry_point_runs_unprivileged_on_a_read_only_root(image: ImageRoot) -> None:
    done = _run(image.command("--version"))

    assert done.stdout.startswith("steward "), done.stderr
    assert image.user == "65532:65532"


def test_build_tools_are_not_in_the_image(image: ImageRoot) -> None:
    found = {path.name for path in image.installed.rglob("bin/*")}
    packages = {path.name for path in image.installed.rglob("site-packages/*")}

    assert {"pip", "uv", "gcc"}.isdisjoint(found)
    assert {"pip", "pytest", "mypy"}.isdisjoint(packages)


def test_every_module_is_compiled_ahead(image: ImageRoot) -> None:
    sources = list(image.installed.rglob("site-packages/steward/**/*.py"))
    missing = [path.name for path in sources if not list(path.parent.glob(f"__pycache__/{path.stem}.*.pyc"))]

    assert len(sources) > 300
    assert missing == []


def test_the_image_adds_less_than_a_hundred_and_sixty_mebibytes_to_its_base(image: ImageRoot) -> None:
    size = sum(path.stat().st_size for path in image.installed.rglob("*") if path.is_file())

    assert size < 160 * MEBIBYTE


def test_monitoring_files_come_with_the_package(image: ImageRoot) -> None:
    values = "monitoring: {alerts: true, dashboards: true}"
    (image.scratch / "values.yaml").write_text(values)

    done = _run(image.command("install", "--values", "/tmp/values.yaml"))

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("kind: PrometheusRule") == 2


def test_an_operator_gets_ready_in_the_image(
    image: ImageRoot, control_plane: ControlPlane, namespace: str
) -> None:
    config = image.scratch / "kubeconfig"
    config.write_text(_with_authority_inside(operator_kubeconfig(MULTIGRES, control_plane).read_text()))
    config.chmod(0o644)
    [port] = free_ports(1)
    health = f"--health-probe-bind-address=127.0.0.1:{port}"
    flags = (
        "--kubeconfig=/tmp/kubeconfig",
        f"--namespaces={namespace}",
        "--webhooks=off",
        "--leader-elect=false",
    )

    with (image.scratch / "log").open("wb") as log:
        process = subprocess.Popen(
            image.command("run", "multigres", *flags, health, "--metrics-bind-address=0"),
            stdout=log,
            stderr=log,
        )
        try:
            until(lambda: process.poll() is not None or _is_ready(port))
            assert process.poll() is None, (image.scratch / "log").read_text()
        finally:
            process.terminate()
            assert process.wait(timeout=90) == 0, (image.scratch / "log").read_text()


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def _with_authority_inside(kubeconfig: str) -> str:
    """Embeds the CA: its file is outside the root of the image."""
    document = load_yaml(kubeconfig)
    for each in document["clusters"]:
        authority = Path(each["cluster"].pop("certificate-authority")).read_bytes()
        each["cluster"]["certificate-authority-data"] = base64.b64encode(authority).decode()
    return yaml.safe_dump(document)


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
