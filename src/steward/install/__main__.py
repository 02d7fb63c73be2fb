"""Writes the chart and the kustomize files; with `--check` lists those that are out of date."""

import json
import sys
from pathlib import Path

from steward.install.chart import templates
from steward.install.kustomize import kustomize_files
from steward.install.monitoring import DASHBOARDS, RULES
from steward.install.values import VERSION
from steward.install.values_file import values_file, values_schema

_CHART = f"""# Made by `make generate` from src/steward/install.
apiVersion: v2
name: steward
description: "Two Kubernetes operators: sharded Postgres, and tenants from the rows of a table."
type: application
version: {VERSION}
appVersion: {VERSION}
kubeVersion: ">=1.30.0-0"
"""


def files(root: Path) -> dict[str, str]:
    return {
        "chart/Chart.yaml": _CHART,
        "chart/values.yaml": values_file(),
        "chart/values.schema.json": json.dumps(values_schema(), indent=2) + "\n",
        **_chart_data(root),
        **{f"chart/templates/{name}": text for name, text in templates().items()},
        **{f"config/{name}": text for name, text in kustomize_files(root).items()},
    }


def _chart_data(root: Path) -> dict[str, str]:
    """Copies of files in `config`: Helm warns about every symbolic link in a chart."""
    made = kustomize_files(root)
    paths = [f"monitoring/{name}" for name in (*RULES.values(), *DASHBOARDS.values())]
    # Written by the API packages, before this.
    paths += [f"crd/{path.name}" for path in sorted((root / "config" / "crd").glob("*_*.yaml"))]
    return {f"chart/files/{path}": made.get(path) or (root / "config" / path).read_text() for path in paths}


def main(root: Path, arguments: list[str]) -> int:
    is_check = "--check" in arguments
    stale = [name for name, text in files(root).items() if not _is_current(root / name, text)]
    if is_check:
        for name in stale:
            print(f"{name} is out of date: run `make generate`", file=sys.stderr)
        return 1 if stale else 0
    made = files(root)
    for name in stale:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(made[name])
    return 0


def _is_current(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main(Path.cwd(), sys.argv[1:]))
