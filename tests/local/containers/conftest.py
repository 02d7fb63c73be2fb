from __future__ import annotations

from pathlib import Path

import pytest

from tests.local.containers.support.assemblies import TwoNodes
from tests.local.containers.support.assemblies import two_nodes as make_two_nodes


@pytest.fixture
def two_nodes(tmp_path: Path) -> TwoNodes:
    return make_two_nodes(tmp_path)
