"""Malformed files: every verb reports them in one sentence with an exit code."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from steward.cli.commands import explain, lint, preview, render
from steward.cli.commands.installation import install
from steward.cli.output import summarize_names

CLUSTER = "apiVersion: multigres.com/v1alpha1\nkind: MultigresCluster\n"
TEMPLATE = """\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantTemplate
metadata: {name: web}
spec: {registryId: prod}
"""
SPEC = "spec: {cells: [{zone: z1}]}\n"
FILES: dict[str, bytes] = {
    "binary": b"\x00\x01\xfe\xff" * 100,
    "utf-16": (CLUSTER + SPEC).encode("utf-16"),
    "empty": b"",
    "comments": b"# nothing\n---\n---\n",
    "text": b"just text\n",
    "list": b"- a\n- b\n",
    "tabs": f"{CLUSTER}metadata:\n\tname: x\n".encode(),
    "nameless": (CLUSTER + SPEC).encode(),
    "metadata is text": f"{CLUSTER}metadata: x\n{SPEC}".encode(),
    "spec is a number": f"{CLUSTER}metadata: {{name: x}}\nspec: 7\n".encode(),
    "an anchor in itself": f"{CLUSTER}metadata: {{name: x}}\nspec: &spec\n  cells: [*spec]\n".encode(),
    "python": b"!!python/object/apply:os.system ['true']\n",
    "numbers": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: 5}\n",
    "deep": b"a: " + b"[" * 500 + b"]" * 500,
}
CALLS: dict[str, tuple[click.Command, tuple[str, ...]]] = {
    "lint": (lint.command, ()),
    "render": (render.command, ("-f",)),
    "explain": (explain.command, ("-f",)),
    "install": (install.command, ("--values",)),
    "preview": (preview.command, ("-f",)),
}
HARMLESS = {"lint": ("empty", "comments", "deep"), "install": ("empty",)}


def run_verb(verb: str, path: Path) -> Result:
    command, options = CALLS[verb]
    return CliRunner().invoke(command, [*options, str(path)])


@pytest.mark.parametrize("verb", CALLS)
@pytest.mark.parametrize("name", FILES)
def test_a_malformed_file_is_reported_in_one_sentence(
    tmp_path: Path, name: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "given.yaml"
    path.write_bytes(FILES[name])
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    done = run_verb(verb, path)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == (0 if name in HARMLESS.get(verb, ()) else 1)
    assert done.stderr.startswith("Error: ") or done.exit_code == 0 or verb == "lint"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.csv", "uid,hostOrUrl\n" + "x" * 200_000, "rows.csv:1 is not valid CSV: field larger"),
        ("rows.csv", "\n", ""),
        ("rows.yaml", "a: [b\n c: d", "rows.yaml:2:3 is not valid YAML: "),
        ("rows.json", "{}", "rows.json must hold a list of rows"),
    ],
)
def test_malformed_rows_are_reported_in_one_sentence(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    template, rows = tmp_path / "template.yaml", tmp_path / name
    template.write_text(TEMPLATE)
    rows.write_text(content)
    done = CliRunner().invoke(render.command, ["-f", str(template), "--rows", str(rows)])
    assert (done.exit_code, message in done.stderr) == (1 if message else 0, True)


def test_a_missing_name_and_a_wrong_api_version_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "given.yaml"
    path.write_text(f"apiVersion: v1\nkind: MultigresCluster\nmetadata: {{}}\n{SPEC}")
    output = run_verb("lint", path).stdout
    assert "apiVersion: is v1; that of a MultigresCluster is multigres.com/v1alpha1" in output
    assert "metadata.name: is missing" in output


def test_of_many_names_only_some_are_listed() -> None:
    assert summarize_names([]) == "none"
    assert summarize_names(["a", "b"]) == "a, b"
    assert summarize_names([f"c{number}" for number in range(12)]).endswith("c9 and 2 more")
