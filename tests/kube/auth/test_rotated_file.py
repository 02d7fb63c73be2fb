from pathlib import Path

import pytest

from steward.kube.auth.rotated_file import CHECK_SECONDS, RotatedFile
from steward.kube.errors import ConfigError
from steward.testkit.clock import FakeClock


def test_a_change_is_noticed_at_the_next_check(tmp_path: Path) -> None:
    clock, path = FakeClock(), tmp_path / "token"
    path.write_text("one")
    file = RotatedFile(str(path), clock)
    assert file.read() == b"one"
    path.write_text("second")
    assert file.read() == b"one"
    clock.advance(CHECK_SECONDS)
    assert file.read() == b"second"


def test_a_swapped_symlink_is_a_change_as_in_a_projected_volume(tmp_path: Path) -> None:
    clock = FakeClock()
    for version in ("a", "b"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "token").write_text(version)
    link = tmp_path / "data"
    link.symlink_to("a")
    file = RotatedFile(str(link / "token"), clock)
    assert file.read() == b"a"
    link.unlink()
    link.symlink_to("b")
    clock.advance(CHECK_SECONDS)
    assert file.read() == b"b"


def test_a_file_that_vanishes_leaves_its_last_content_in_force(tmp_path: Path) -> None:
    clock, path = FakeClock(), tmp_path / "token"
    path.write_text("one")
    file = RotatedFile(str(path), clock)
    file.read()
    path.unlink()
    clock.advance(CHECK_SECONDS)
    assert file.read() == b"one"


def test_check_now_reads_the_file_before_the_next_check_is_due(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    file = RotatedFile(str(path), FakeClock())
    file.read()
    path.write_text("second")
    file.check_now()
    assert file.read() == b"second"


def test_a_file_that_never_was_is_an_error_that_names_it(tmp_path: Path) -> None:
    file = RotatedFile(str(tmp_path / "token"), FakeClock())
    with pytest.raises(ConfigError, match=f"cannot read {tmp_path}/token: No such file"):
        file.read()
    (tmp_path / "token").write_text("late")
    assert file.read() == b"late"
