"""The build context of the image has everything that the Dockerfile copies."""

import re

from tests.support.paths import ROOT


def test_dockerignore_admits_every_path_that_the_dockerfile_copies() -> None:
    copies = re.findall(r"^COPY (?!--from)(.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    copied = [source for line in copies for source in line.split()[:-1]]
    admitted = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")
    }
    assert copied
    assert [path for path in copied if path not in admitted] == []
