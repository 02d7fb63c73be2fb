"""What the author of a MultigresCluster sees and can do: clusters in one namespace, and no other right."""

import json
from typing import Any, Final, NamedTuple

from tests.attacks.support.attacked_operator import AttackedOperator
from tests.multigres.support.clusters import cluster
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

PASSWORD: Final = "victim-password-4711"
DRY_RUN: Final = ("create", "--dry-run=server", "-f", "-")


class ClusterAuthor(NamedTuple):
    operator: AttackedOperator
    victim: str
    """The namespace of another team, with a Secret that contains PASSWORD."""

    @property
    def kubectl(self) -> Kubectl:
        return self.operator.kubectl

    @property
    def namespace(self) -> str:
        return self.operator.namespace

    def create(self, name: str, **spec: Any) -> None:
        self.kubectl("create", "-f", "-", document=cluster(self.namespace, name, **spec))

    def observed(self, name: str) -> dict[str, Any]:
        """The cluster once the operator has reported about its current generation."""

        def current() -> Any:
            found = self.get("mgc", name)
            is_observed = found.get("status", {}).get("observedGeneration") == found["metadata"]["generation"]
            return found if is_observed else None

        return eventually(current, f"a status of {name}")  # type: ignore[no-any-return]

    def get(self, kind: str, name: str) -> Any:
        return self.kubectl.json("get", kind, name, "-n", self.namespace)

    def names(self, kind: str) -> list[str]:
        found = self.kubectl.json("get", kind, "-n", self.namespace)
        return [item["metadata"]["name"] for item in found["items"]]

    def everything_visible(self) -> str:
        """All objects of the namespace, its events included, and the operator's log."""
        kinds = "mgc,toposervers,cells,tablegroups,shards,secrets,configmaps,deployments,statefulsets,events"
        return (
            json.dumps(self.kubectl.json("get", kinds, "-n", self.namespace)) + self.operator.log.read_text()
        )


def conditions(found: dict[str, Any]) -> dict[str, Any]:
    return {each["type"]: each for each in found.get("status", {}).get("conditions", [])}
