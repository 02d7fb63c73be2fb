"""The reasons of conditions and events as a document."""

from collections.abc import Mapping


def document(title: str, meanings: Mapping[str, str]) -> str:
    rows = [f"| `{reason}` | {meaning} |" for reason, meaning in sorted(meanings.items())]
    return f"# {title}\n\n| Reason | Means |\n|---|---|\n" + "\n".join(rows) + "\n"
