"""Writes the CustomResourceDefinitions: `python -m steward.multigres.api DIRECTORY [--check]`."""

import sys

from steward.kube.crd.files import write_or_check
from steward.multigres.api.kinds import CUSTOM_KINDS

if __name__ == "__main__":
    sys.exit(write_or_check(CUSTOM_KINDS, "src/steward/multigres/api", sys.argv[1:]))
