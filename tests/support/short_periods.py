"""Runs `steward` with shorter periods, so that a test need not wait for the minutes that an operator rests.

    python -P tests/support/short_periods.py MODULE:NAME=SECONDS... -- steward run multigres

The periods are constants of modules, or fields of one (`NAME.cap`). A setting for each was rejected: users would have
to read about dozens of numbers that they should not change.
"""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path


def short_periods(periods: Mapping[str, float]) -> tuple[str, ...]:
    """A launcher for an OperatorProcess, from seconds by constant: `steward.multigres.rollout.pods:DOWN_SECONDS`."""
    words = [f"{constant}={seconds:g}" for constant, seconds in periods.items()]
    return (sys.executable, "-P", str(Path(__file__)), *words, "--") if words else ()


def set_period(constant: str, seconds: float) -> None:
    """Also where another module has imported the constant by name."""
    module, _, place = constant.partition(":")
    name, _, field = place.partition(".")
    before = getattr(importlib.import_module(module), name)
    if not isinstance(getattr(before, field) if field else before, float):
        raise TypeError(f"{constant} is no period: it has no number of seconds")
    after = before._replace(**{field: seconds}) if field else seconds
    for each in [found for key, found in sys.modules.items() if key.startswith("steward.")]:
        if getattr(each, name, None) is before:
            setattr(each, name, after)


def main() -> None:
    own, command = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    for word in own:
        constant, _, seconds = word.partition("=")
        set_period(constant, float(seconds))
    sys.argv[:] = command
    importlib.import_module("steward.cli.main").main()


if __name__ == "__main__":
    main()
