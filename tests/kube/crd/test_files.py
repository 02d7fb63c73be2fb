from pathlib import Path

import pytest

from steward.kube.crd.files import write_or_check
from steward.multigres.api.kinds import CUSTOM_KINDS


def test_a_written_file_is_up_to_date(tmp_path: Path) -> None:
    assert write_or_check(CUSTOM_KINDS, "types", [str(tmp_path)]) == 0
    assert write_or_check(CUSTOM_KINDS, "types", [str(tmp_path), "--check"]) == 0
    assert len(list(tmp_path.glob("*.yaml"))) == len(CUSTOM_KINDS)


def test_a_file_that_was_edited_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_or_check(CUSTOM_KINDS, "types", [str(tmp_path)])
    edited = tmp_path / "multigres.com_cells.yaml"
    edited.write_text("edited")
    assert write_or_check(CUSTOM_KINDS, "types", [str(tmp_path), "--check"]) == 1
    assert str(edited) in capsys.readouterr().err
