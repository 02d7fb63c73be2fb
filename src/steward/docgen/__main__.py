"""Writes the references; with `--check` lists those that are out of date."""

import sys
from collections.abc import Callable
from pathlib import Path

from steward.docgen import api, commands, metrics, reasons
from steward.docgen.multigres_defaults import MULTIGRES_DEFAULTS
from steward.multigres import reasons as multigres_reasons
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants import reasons as tenant_reasons
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS

NOTE = "<!-- Made by `make generate` from the code: edit there. -->\n"


REFERENCES: dict[str, Callable[[], str]] = {
    "api-multigres.md": lambda: api.api_page("API of multigres", MULTIGRES_KINDS, MULTIGRES_DEFAULTS),
    "api-tenants.md": lambda: api.api_page("API of tenants", TENANT_KINDS),
    "commands.md": commands.commands_page,
    "metrics.md": metrics.metrics_page,
    "reasons-multigres.md": lambda: reasons.reasons_page("Reasons of multigres", multigres_reasons.MEANINGS),
    "reasons-tenants.md": lambda: reasons.reasons_page("Reasons of tenants", tenant_reasons.MEANINGS),
}


def files() -> dict[str, str]:
    return {f"docs/reference/{name}": NOTE + page() for name, page in REFERENCES.items()}


def main(root: Path, arguments: list[str]) -> int:
    stale = {name: text for name, text in files().items() if not _is_current(root / name, text)}
    if "--check" in arguments:
        for name in stale:
            print(f"{name} is out of date: run `make generate`", file=sys.stderr)
        return 1 if stale else 0
    for name, text in stale.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return 0


def _is_current(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main(Path.cwd(), sys.argv[1:]))
