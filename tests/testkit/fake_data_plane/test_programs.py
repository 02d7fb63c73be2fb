"""What a pod says about its program: where the backups of a pooler are."""

from typing import Any

import msgspec
import pytest

from steward.testkit.fake_data_plane.programs import REQUIRED_FLAGS, parse_program
from steward.testkit.fake_data_plane.views import PodView

HOST = {"env": [{"name": "PGBACKREST_REPO1_HOST", "value": "repository.ns.svc"}]}
CLAIM = {"name": "backup-data", "persistentVolumeClaim": {"claimName": "c"}}
EMPTY = {"name": "backup-data", "emptyDir": {}}
DATA = {"name": "pgdata", "persistentVolumeClaim": {"claimName": "pgdata-0"}}


@pytest.mark.parametrize(
    ("container", "volume", "repository"),
    [(HOST, EMPTY, "host repository.ns.svc"), ({}, CLAIM, "claim c"), ({}, EMPTY, "")],
    ids=["served", "mounted", "object store"],
)
def test_repository_of_a_pooler(container: dict[str, Any], volume: dict[str, Any], repository: str) -> None:
    arguments = ["multipooler", *(f"--{flag}=x" for flag in REQUIRED_FLAGS)]
    spec = {"containers": [{"args": arguments, **container}], "volumes": [DATA, volume]}
    program = parse_program(msgspec.convert({"metadata": {"name": "p"}, "spec": spec}, PodView))
    assert program is not None
    assert program.repository == repository
