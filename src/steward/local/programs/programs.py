"""The programs that Steward builds from source, with their versions and sources.

A program is built when it is first needed. Its cache key covers everything that the binary depends on (version,
platform, flags and every file of its Go module), so a cached program is never out of date.
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from steward.local.errors import UnsupportedMachine
from steward.local.programs.disk import GIB, MIB

GO_SOURCES = Path(__file__).parent / "go"


@dataclass(frozen=True)
class Program:
    """One binary: `package` of the Go module in `source`, with a symbolic link for each of its `names`."""

    name: str
    version: str
    source: Path
    package: str
    names: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()  # set by the linker
    tags: tuple[str, ...] = ()  # build tags
    disk: int = GIB  # free space that a first build needs, caches included


def _kubernetes_version(version: str) -> tuple[tuple[str, str], ...]:
    # kubectl and discovery reject a server without a version.
    major, minor, _ = version.split(".")
    values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    return tuple((f"k8s.io/component-base/version.{name}", value) for name, value in values.items())


CONTROL_PLANE = Program(
    name="controlplane",
    version="1.36.3",
    source=GO_SOURCES / "kubernetes",
    package="./controlplane",
    names=("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
    variables=_kubernetes_version("1.36.3"),
    disk=5 * GIB,
)

# A separate binary: its `version` flag clashes with the one that every Kubernetes component registers.
KWOK = Program(
    name="kwok",
    version="0.8.0",
    source=GO_SOURCES / "kubernetes",
    package="sigs.k8s.io/kwok/cmd/kwok",
    names=("kwok",),
    disk=1 * GIB,
)

# The programs of a real node, for `steward up --containers`.
NODE = Program(
    name="node",
    version=CONTROL_PLANE.version,
    source=GO_SOURCES / "kubernetes",
    package="./node",
    names=("kubelet", "kube-proxy"),
    variables=CONTROL_PLANE.variables,
    disk=2 * GIB,
)

COREDNS = Program(
    name="coredns",
    version="1.14.7",
    source=GO_SOURCES / "coredns",
    package=".",
    names=("coredns",),
    disk=1 * GIB,
)

# Used only by the tests of the chart.
HELM = Program(
    name="helm",
    version="3.22.0",
    source=GO_SOURCES / "helm",
    package="helm.sh/helm/v3/cmd/helm",
    names=("helm",),
    # Without a cluster helm assumes a very old Kubernetes version, and rejects charts that require a newer one.
    variables=(
        ("helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor", "1"),
        ("helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor", "36"),
    ),
    disk=2 * GIB,
)

# Used only by the tests of the alerts. Built without service discovery: the clients of two dozen clouds would make the
# build take several times as long.
PROMTOOL = Program(
    name="promtool",
    version="0.313.5",
    source=GO_SOURCES / "prometheus",
    package="github.com/prometheus/prometheus/cmd/promtool",
    names=("promtool",),
    tags=("remove_all_sd",),
    disk=2 * GIB,
)

# The programs of the small images that Steward makes itself, for `steward up --containers`.
PAUSE = Program(
    name="pause",
    version="1",
    source=GO_SOURCES / "containers",
    package="./pause",
    names=("pause",),
    disk=64 * MIB,
)
WORKLOAD = Program(
    name="workload",
    version="1",
    source=GO_SOURCES / "containers",
    package="./workload",
    names=("workload",),
    disk=256 * MIB,
)

# What the tests need. NODE and COREDNS are built by `steward up --containers` and `make e2e` only.
PROGRAMS = {program.name: program for program in (CONTROL_PLANE, KWOK, HELM, PROMTOOL, PAUSE, WORKLOAD)}

_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def platform_name(system: str = sys.platform, processor: str = platform.machine()) -> str:
    """This platform as Go names it; the control plane needs Linux (`/proc`, parent-death signals)."""
    architecture = _ARCHITECTURES.get(processor.lower())
    if system != "linux" or architecture is None:
        raise UnsupportedMachine(
            f"Steward's local control plane runs on Linux with an amd64 or arm64 processor and this is "
            f"{system} on {processor}: use such a machine, a virtual one or a container."
        )
    return f"linux-{architecture}"


def build_key(program: Program, built_for: str) -> str:
    """The name of the directory that holds the built program."""
    digest = hashlib.sha256()
    for text in (program.package, *program.names, *(f"{n}={v}" for n, v in program.variables), *program.tags):
        digest.update(text.encode() + b"\0")
    for path in sorted(program.source.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(program.source)).encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{program.name}-{program.version}-{built_for}-{digest.hexdigest()[:12]}"


def required_go(source: Path) -> tuple[int, int]:
    """The Go release that the module requires."""
    found = re.search(r"^go (\d+)\.(\d+)", (source / "go.mod").read_text(), re.MULTILINE)
    assert found is not None, f"{source}/go.mod names no Go release"
    return int(found[1]), int(found[2])
