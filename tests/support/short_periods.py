"""Runs `steward` with shorter periods, so that a test need not wait for the minutes that an operator rests.

    python -P tests/support/short_periods.py MODULE:NAME=SECONDS... -- steward run multigres

The periods are constants of modules, or fields of one (`NAME.cap`). A setting for each was rejected: users would have
to read about dozens of numbers that they should not change.
"""

import importlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path


def short_periods(periods: Mapping[str, float]) -> tuple[str, ...]:
    """A launcher for an OperatorProcess, from seconds by constant: `steward.multigres.rollout.pods:DOWN_SECONDS`."""
    words = [f"{constant}={seconds:g}" for constant, seconds in periods.items()]
    return (sys.executable, "-P", str(Path(__file__)), *words, "--") if words else ()


def periods_of(launcher: tuple[str, ...]) -> tuple[str, ...] | None:
    """The periods of a launcher that does nothing else than to set them; None for another one."""
    own = (sys.executable, "-P", str(Path(__file__)))
    if not launcher:
        return ()
    return launcher[len(own) : -1] if launcher[: len(own)] == own else None


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


def set_periods(words: Iterable[str]) -> None:
    for word in words:
        constant, _, seconds = word.partition("=")
        set_period(constant, float(seconds))


def main() -> None:
    own, command = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    set_periods(own)
    sys.argv[:] = command
    importlib.import_module("steward.cli.main").main()


if __name__ == "__main__":
    main()
