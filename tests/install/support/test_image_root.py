"""The cache of the steps of an image: a step is built again if its instruction or a file up to it has changed."""

from pathlib import Path

import pytest

from tests.install.support import image_root
from tests.install.support.image_root import Layer, LayerCache, instructions, layers

DOCKERFILE = "FROM base\nRUN first\nCOPY src src\nRUN second\n"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(image_root, "ROOT", tmp_path)
    (tmp_path / "src" / "__pycache__").mkdir(parents=True)
    (tmp_path / "src" / "module.py").write_text("a = 1")
    return tmp_path / "src"


def digests(dockerfile: str = DOCKERFILE) -> list[str]:
    [stage] = instructions(dockerfile)
    return [layer.digest for layer in layers(stage)]


def test_a_changed_file_changes_its_step_and_those_after_it(sources: Path) -> None:
    before = digests()
    (sources / "module.py").write_text("a = 2")
    after = digests()
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, False]


def test_a_changed_instruction_changes_its_step_and_those_after_it(sources: Path) -> None:
    before, after = digests(), digests(DOCKERFILE.replace("COPY src src", "COPY src other"))
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, False]


def test_compiled_files_of_the_checkout_change_nothing(sources: Path) -> None:
    before = digests()
    (sources / "__pycache__" / "module.pyc").write_text("compiled")
    assert digests() == before


def test_a_stored_step_is_restored_until_another_build_has_no_use_for_it(
    sources: Path, tmp_path: Path
) -> None:
    [stage] = instructions(DOCKERFILE)
    first, _, second = layers(stage)
    cache, into = LayerCache(tmp_path / "cache"), tmp_path / "into"
    into.mkdir()
    cache.store(first, sources)
    cache.store(second, sources)

    cache.forget_others([second, Layer(second.step, "unknown")])

    assert [cache.has(layer) for layer in (first, second)] == [False, True]
    cache.restore(second, into)
    assert (into / "module.py").read_text() == "a = 1"
