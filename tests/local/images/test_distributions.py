from __future__ import annotations

import re

from steward.local.images.distributions import installed_files, required_distributions
from tests.support.paths import ROOT


def test_the_distributions_of_the_image_are_the_locked_ones() -> None:
    """The Dockerfile installs requirements/base.txt."""
    locked = re.findall(
        r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements" / "base.txt").read_text(), re.MULTILINE
    )
    found = {name: each.version for name, each in required_distributions("steward").items()}
    assert found == dict(locked)


def test_the_files_of_a_distribution_include_its_metadata_and_no_scripts() -> None:
    files = installed_files(required_distributions("steward")["idna"])
    assert "idna/__init__.py" in files
    assert any(path.endswith(".dist-info/METADATA") for path in files)
    assert not [path for path in files if path.startswith("..") or path.endswith(".pyc")]
    assert all(source.is_file() for source in files.values())
