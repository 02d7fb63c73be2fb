"""An account that may read metrics, as Prometheus has it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from steward.install.rbac import metrics_reader
from tests.support.kubectl import Kubectl

ACCOUNT = "scraper"


class Scraper(NamedTuple):
    kubectl: Kubectl
    namespace: str

    def new_token(self) -> str:
        return self.kubectl.run("create", "token", ACCOUNT, "-n", self.namespace)[0].strip()


@contextmanager
def metrics_scraper(kubectl: Kubectl, namespace: str) -> Iterator[Scraper]:
    name = f"scraper-{namespace}"
    role = {**metrics_reader(), "metadata": {"name": name}}
    kubectl("create", "serviceaccount", ACCOUNT, "-n", namespace)
    kubectl("create", "-f", "-", document=role)
    kubectl.run(
        "create",
        "clusterrolebinding",
        name,
        f"--clusterrole={name}",
        f"--serviceaccount={namespace}:{ACCOUNT}",
    )
    yield Scraper(kubectl, namespace)
    kubectl.run("delete", "clusterrole,clusterrolebinding", name)
