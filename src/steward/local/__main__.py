"""`python -m steward.local`: builds the control plane's programs unless they are built, and reports progress."""

from __future__ import annotations

import sys

from steward.local import signals
from steward.local.errors import LocalError
from steward.local.programs import binaries
from steward.local.programs.programs import PROGRAMS
from steward.local.progress import ProgressLines

if __name__ == "__main__":
    try:
        signals.run(binaries.ensure(PROGRAMS.values(), ProgressLines(sys.stderr)))
    except (LocalError, OSError) as error:
        sys.exit(f"Error: {error}")
    except signals.Interrupted:
        sys.exit(130)
