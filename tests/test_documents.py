"""Checks of all documents: links, headings, manifests, commands, and quoted messages."""

import re
from functools import cache
from pathlib import Path

import pytest

from steward.cli.documents import parse_documents
from steward.cli.lint.checks import lint
from steward.install.operators import OPERATORS
from steward.local.programs.programs import CONTROL_PLANE
from tests.support.command_lines import usage_error
from tests.support.paths import ROOT

PLACES = ("*.md", "docs/**/*.md", "config/**/*.md", "chart/**/*.md")
DOCUMENTS = sorted(
    {str(path.relative_to(ROOT)) for pattern in PLACES for path in ROOT.glob(pattern) if path.is_file()}
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_inside_the_project_exists(name: str) -> None:
    path = ROOT / name
    text = _CODE.sub("", path.read_text())

    links = [link.partition("#")[0] for link in _LINK.findall(text)]
    broken = [link for link in links if link and "://" not in link and not (path.parent / link).exists()]

    assert broken == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_linked_heading_exists(name: str) -> None:
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
    page = (ROOT / "SECURITY.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    named = re.findall(r"`(test_\w+)`", page)
    code = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))

    missing = [name for name in named if f"def {name}(" not in code]

    assert [row for row in rows if "`test_" not in row] == []
    assert named
    assert missing == []


_YAML_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SHELL_LINE = re.compile(r"^(?: {4,}|\$ )?(?:\.venv/bin/)?(steward [a-z].*)$", re.MULTILINE)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_manifest_in_a_document_passes_lint(name: str) -> None:
    blocks = _YAML_BLOCK.findall((ROOT / name).read_text())
    documents = [parse_documents(name, block) for block in blocks]

    # Referenced templates are in other manifests; everything else must be valid as printed.
    errors = [
        finding.message
        for block in documents
        for finding in lint(block)
        if finding.severity == "error" and "Template" not in finding.message
    ]

    assert errors == []


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if "reference/" not in name])
def test_every_steward_command_in_a_document_is_valid(name: str) -> None:
    lines = _SHELL_LINE.findall((ROOT / name).read_text())

    errors = {line: error for line in lines if (error := usage_error(line))}

    assert errors == {}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_make_target_and_deployment_in_a_document_exists(name: str) -> None:
    text = (ROOT / name).read_text()
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    deployments = {operator.name for operator in OPERATORS}

    used = {
        word
        for line in re.findall(r"^ {4}make ([a-z0-9 -]+)", text, re.MULTILINE)
        for word in line.split()[:1]
    }
    named = set(re.findall(r"deploy(?:ment)?/([a-z-]+)", text))

    assert used - targets == set()
    assert named - deployments == set()


def test_every_page_is_linked_from_the_readme() -> None:
    reached, rest = set[Path](), [ROOT / "README.md"]
    while rest:
        page = rest.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = (link.partition("#")[0] for link in _LINK.findall(_CODE.sub("", page.read_text())))
        rest += [(page.parent / link).resolve() for link in links if link and "://" not in link]

    pages = set((ROOT / "docs").rglob("*.md")) | {
        ROOT / "SECURITY.md",
        ROOT / "CONTRIBUTING.md",
    }

    assert {str(page.relative_to(ROOT)) for page in pages - reached} == set()


@pytest.mark.parametrize("name", ["docs/install.md", "docs/local.md", "docs/figures.md"])
def test_the_version_of_kubernetes_in_a_document_is_the_one_that_the_tests_run(name: str) -> None:
    named = re.findall(r"\b1\.\d\d\.\d+\b", (ROOT / name).read_text())

    assert set(named) == {CONTROL_PLANE.version}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 75


# Values in messages, and separators between their parts.
_VALUES = re.compile(
    r"…|: |'|=False|\d+ of \d+|[\d/]+ nodes are available|CrashLoopBackOff|ImagePullBackOff|postgres|a -> b -> a"
    r"|topology\.kubernetes\.io/zone="
)
_MESSAGE_ROW = re.compile(r"^\| ((?:`[^`]+`[^|`]*)+)\|", re.MULTILINE)


def quoted_messages() -> list[str]:
    """Messages in the first column of the tables of troubleshooting.md; `…` stands for values."""
    rows = _MESSAGE_ROW.findall((ROOT / "docs/troubleshooting.md").read_text())
    return [message for row in rows for message in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("message", quoted_messages())
def test_every_message_quoted_in_troubleshooting_is_in_the_code(message: str) -> None:
    if message in MESSAGES_OF_OTHERS:
        return
    pieces = [piece for piece in _VALUES.split(message) if piece.strip(" :,;/'")]

    assert pieces
    assert [piece for piece in pieces if _flat(piece) not in _code()] == []


MESSAGES_OF_OTHERS = {"failed calling webhook": "the API server"}


@cache
def _code() -> str:
    """The source code, without placeholders and line breaks in messages."""
    sources = (path.read_text() for path in sorted((ROOT / "src/steward").rglob("*.py")))
    return _flat("\n".join(sources))


def _flat(text: str) -> str:
    text = re.sub(r"\{[^{}]*\}", "", text)
    text = re.sub(r"\"\s*\n\s*f?\"", "", text)
    return " ".join(text.split())
