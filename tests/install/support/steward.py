"""Runs `steward` against the control plane of the installation tests."""

import subprocess

from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.support.steward_command import run_steward


class Steward:
    """Runs `steward` with the kubeconfig of the control plane."""

    def __init__(self, plane: ControlPlane) -> None:
        self._kubeconfig = ["--kubeconfig", str(plane.kubeconfig)]

    def run(self, verb: str, *args: str) -> subprocess.CompletedProcess[str]:
        return run_steward(verb, *args, *self._kubeconfig)

    def __call__(self, verb: str, *args: str) -> str:
        done = self.run(verb, *args)
        assert done.returncode == 0, done.stderr
        return done.stdout


def wait_until_uninstalled(kubectl: Kubectl) -> None:
    if "steward-system" in kubectl("get", "namespaces", "-o", "name"):
        kubectl("wait", "--for=delete", "namespace/steward-system", "--timeout=120s")
