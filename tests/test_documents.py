"""Documents hold what they promise: links lead somewhere, and nothing speaks of the machine it was written on."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = ("*.md", "docs/**/*.md", "config/**/*.md", "chart/**/*.md")
DOCUMENTS = sorted(
    {str(path.relative_to(ROOT)) for pattern in PLACES for path in ROOT.glob(pattern) if path.is_file()}
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_inside_the_project_leads_somewhere(name: str) -> None:
    path = ROOT / name
    text = _CODE.sub("", path.read_text())

    links = [link.partition("#")[0] for link in _LINK.findall(text)]
    broken = [link for link in links if link and "://" not in link and not (path.parent / link).exists()]

    assert broken == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_heading_that_a_link_names_is_there(name: str) -> None:
    path = ROOT / name
    missing = []
    for link in _LINK.findall(_CODE.sub("", path.read_text())):
        file, _, heading = link.partition("#")
        if not heading or "://" in link:
            continue
        target = path if not file else path.parent / file
        if heading not in _headings(target.read_text()):
            missing.append(link)

    assert missing == []


def _headings(text: str) -> set[str]:
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_every_threat_names_a_test_that_exists() -> None:
    named = re.findall(r"`(test_\w+)`", (ROOT / "SECURITY.md").read_text())
    code = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))

    missing = [name for name in named if f"def {name}(" not in code]

    assert named
    assert missing == []
