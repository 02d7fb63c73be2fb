"""`python -m bench [SCENARIO] [ARGUMENT ...]`, `python -m bench --list`.

A scenario is a module or package in this directory with `main(argv) -> int`; the first line of its docstring says what
it measures. There is no registration. Without a scenario all of them run, one after the other.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

USAGE = "usage: python -m bench [SCENARIO] [ARGUMENT ...]\n       python -m bench --list"
INTERRUPTED = 130


def scenarios() -> dict[str, ModuleType]:
    names = sorted(module.name for module in iter_modules([str(Path(__file__).parent)]))
    modules = {name: import_module(f"bench.{name}") for name in names if not name.startswith("_")}
    return {name: module for name, module in modules.items() if hasattr(module, "main")}


def describe_scenarios() -> str:
    docs = {name: (module.__doc__ or "").strip() for name, module in scenarios().items()}
    width = max(map(len, docs))
    return "\n".join(f"{name:<{width}}  {doc.splitlines()[0] if doc else ''}" for name, doc in docs.items())


def main(argv: Sequence[str]) -> int:
    if argv and argv[0] in ("--list", "-h", "--help"):
        print(describe_scenarios() if argv[0] == "--list" else f"{USAGE}\n\n{describe_scenarios()}")
        return 0
    if argv and not argv[0].startswith("-"):
        return _run_one(argv[0], argv[1:])
    return _run_all(argv)


def _run_one(name: str, argv: Sequence[str]) -> int:
    module = scenarios().get(name)
    if module is None:
        print(f"there is no scenario {name!r}\n{USAGE}\n\n{describe_scenarios()}", file=sys.stderr)
        return 2
    code: int = module.main(argv)
    return code


def _run_all(argv: Sequence[str]) -> int:
    """Run all scenarios; a failure does not stop the others, an interruption does."""
    worst = 0
    for name, module in scenarios().items():
        print(f"{name}: {(module.__doc__ or '').strip().splitlines()[0]}", file=sys.stderr, flush=True)
        code = _run_scenario(module, argv)
        if code == INTERRUPTED:
            return code
        worst = max(worst, code)
    return worst


def _run_scenario(module: ModuleType, argv: Sequence[str]) -> int:
    try:
        code: int = module.main(argv)
    except Exception:
        traceback.print_exc()
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
