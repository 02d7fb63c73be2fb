"""`steward convert`: files in, manifests on standard output, notes on standard error."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from steward.cli.commands.convert import command
from tests.support.yaml_text import load_yaml, load_yaml_documents

CLUSTER = """\
apiVersion: multigres.com/v1alpha1
kind: MultigresCluster
metadata: {name: shop}
spec:
  cells: [{name: z1, zoneId: use1-az1}]
  pvcDeletionPolicy: {whenDeleted: Retain}
"""
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
LOSING = CLUSTER + "  internalTLS: {enabled: true}\n"


def run(directory: Path, text: str, *options: str) -> Result:
    file = directory / "old.yaml"
    file.write_text(text)
    return CliRunner().invoke(command, [str(file), *options])


def test_a_file_is_translated_as_a_whole(tmp_path: Path) -> None:
    result = run(tmp_path, f"{CLUSTER}---\n{SECRET}")
    assert result.exit_code == 0
    cluster, secret = load_yaml_documents(result.stdout)
    assert cluster["spec"]["cells"] == [{"name": "z1", "zone": "use1-az1"}]
    assert secret["kind"] == "Secret"
    assert result.stderr.startswith("MultigresCluster/shop: spec.cells[z1].zoneId: check: zoneId selected")


def test_a_loss_is_named_and_ends_with_1_after_the_result(tmp_path: Path) -> None:
    result = run(tmp_path, LOSING, "-o", "json")
    assert result.exit_code == 1
    assert "internalTLS" not in json.loads(result.stdout)[0]["spec"]
    assert (
        "MultigresCluster/shop: spec.internalTLS: lost: connections between components are not encrypted"
        in result.stderr
    )


def test_a_list_of_kubectl_is_read_and_made_objects_are_no_loss(tmp_path: Path) -> None:
    shard = {"apiVersion": "multigres.com/v1alpha1", "kind": "Shard", "metadata": {"name": "x"}}
    result = run(
        tmp_path, json.dumps({"apiVersion": "v1", "kind": "List", "items": [load_yaml(CLUSTER), shard]})
    )
    assert result.exit_code == 0
    assert len(list(load_yaml_documents(result.stdout))) == 1
    assert "Shard/x: left out: the operator makes it again" in result.stderr


def test_a_file_that_is_no_yaml_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    result = run(tmp_path, "a: [")
    assert result.exit_code == 1
    assert "is not valid YAML" in result.stderr
    assert result.stdout == ""
