"""Constants that tests shorten are found, also where another module has imported them."""

import subprocess
import sys

import pytest

from tests.support.short_periods import set_period, short_periods

CONSTANT = "steward.multigres.servers.grace:GRACE_SECONDS"


def test_the_operator_starts_with_the_period_in_every_module_that_uses_it() -> None:
    look = (
        "import sys; from tests.support.short_periods import set_period; "
        "import steward.multigres.controllers.shard.server_pods as importing; "
        f"set_period({CONSTANT!r}, 2.5); set_period('steward.multigres.controllers.topology.retry:RETRY.cap', 1.5); "
        "from steward.multigres.controllers.topology.retry import RETRY; "
        "print(importing.GRACE_SECONDS, RETRY.cap)"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "2.5 1.5\n"


def test_the_rest_of_the_command_reaches_steward() -> None:
    command = [*short_periods({CONSTANT: 2.5}), "steward", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "steward" in done.stdout.lower()


def test_a_constant_that_is_no_period_is_refused() -> None:
    with pytest.raises(TypeError, match="is no period"):
        set_period("steward.multigres.servers.grace:NOT_REPORTED", 1.0)
