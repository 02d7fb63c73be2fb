"""Generates the reference of condition and event reasons."""

from collections.abc import Mapping


def reasons_page(title: str, meanings: Mapping[str, str]) -> str:
    rows = [f"| `{reason}` | {meaning} |" for reason, meaning in sorted(meanings.items())]
    return f"# {title}\n\n| Reason | Meaning |\n|---|---|\n" + "\n".join(rows) + "\n"
