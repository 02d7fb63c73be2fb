"""Writes the CustomResourceDefinitions: `python -m steward.tenants.api DIRECTORY`, one file a kind.

With `--check` nothing is written, and the exit code tells whether the files are what the types say.
"""

import sys
from pathlib import Path

import yaml

from steward.kube.crd import CustomKind, definition
from steward.tenants.api.kinds import CUSTOM_KINDS

HEAD = "# Made from the types in src/steward/tenants/api by `make generate`; do not edit.\n"


def manifest(custom: CustomKind) -> str:
    return HEAD + yaml.safe_dump(definition(custom), sort_keys=False, width=120, allow_unicode=True)


def main(directory: Path, check: str = "") -> int:
    wanted = {directory / f"{custom.group}_{custom.plural}.yaml": manifest(custom) for custom in CUSTOM_KINDS}
    if check != "--check":
        directory.mkdir(parents=True, exist_ok=True)
        for path, text in wanted.items():
            path.write_text(text)
        return 0
    stale = [str(path) for path, text in wanted.items() if not path.is_file() or path.read_text() != text]
    if stale:
        print(f"not what the types say: {', '.join(stale)}; run `make generate`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:3]))
