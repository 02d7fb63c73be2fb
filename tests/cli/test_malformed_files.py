"""Files that no sensible person writes: whatever they hold, a verb answers with a sentence and an exit code."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from steward.cli.commands import explain, install, lint, preview, render
from steward.cli.manifest_shape import NO_MANIFEST, misshapen
from steward.cli.output import some_of

CLUSTER = "apiVersion: multigres.com/v1alpha1\nkind: MultigresCluster\n"
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
HARMLESS = {"lint": ("empty", "comments", "deep", "numbers"), "install": ("empty",)}


def called(verb: str, path: Path) -> Result:
    command, options = CALLS[verb]
    return CliRunner().invoke(command, [*options, str(path)])


@pytest.mark.parametrize("verb", CALLS)
@pytest.mark.parametrize("name", FILES)
def test_a_strange_file_is_a_sentence(
    tmp_path: Path, name: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "given.yaml"
    path.write_bytes(FILES[name])
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    done = called(verb, path)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == (0 if name in HARMLESS.get(verb, ()) else 1)
    assert done.stderr.startswith("Error: ") or done.exit_code == 0 or verb == "lint"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("rows.csv", "uid,hostOrUrl\n" + "x" * 200_000, "rows.csv:1 is no CSV: field larger"),
        ("rows.csv", "\n", ""),
        ("rows.yaml", "a: [b\n c: d", "rows.yaml:2:3 is no YAML: "),
        ("rows.json", "{}", "rows.json must hold a list of rows"),
    ],
)
def test_strange_rows_are_a_sentence(tmp_path: Path, name: str, content: str, told: str) -> None:
    template, rows = tmp_path / "template.yaml", tmp_path / name
    template.write_text("kind: TenantTemplate\nmetadata: {name: web}\nspec: {registryId: prod}\n")
    rows.write_text(content)
    done = CliRunner().invoke(render.command, ["-f", str(template), "--rows", str(rows)])
    assert (done.exit_code, told in done.stderr) == (1 if told else 0, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("metadata:\n  name: x\n  name: y\n", [(3, 3, "name stands twice; the first is in line 2")]),
        ("a: 1\nb: 2\na: 3\n", [(3, 1, "a stands twice; the first is in line 1")]),
        ("a: {b: 1}\nc: {b: 1}\n", []),
        ("base: &base {x: 1}\nother:\n  <<: *base\n  y: 2\n", []),
        ("just text\n", [(1, 1, NO_MANIFEST)]),
        ("---\n---\na: 1\n", []),
    ],
)
def test_a_key_stands_once_and_a_document_is_an_object(text: str, told: list[tuple[int, int, str]]) -> None:
    assert [(*found.position, found.message) for found in misshapen(text)] == told


def test_a_manifest_that_no_server_could_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "given.yaml"
    path.write_text(f"apiVersion: v1\nkind: MultigresCluster\nmetadata: {{}}\n{SPEC}")
    told = called("lint", path).stdout
    assert "apiVersion: is v1; that of a MultigresCluster is multigres.com/v1alpha1" in told
    assert "metadata.name: is missing" in told


def test_of_many_names_some_are_said() -> None:
    assert some_of([]) == "none"
    assert some_of(["a", "b"]) == "a, b"
    assert some_of([f"c{number}" for number in range(12)]).endswith("c9 and 2 more")
