"""The memory that a table may take follows the memory limit of the process."""

from pathlib import Path

import pytest

from steward.tenants.sources.limits import TABLE_BYTES, table_bytes


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("memory.max", "max\n", TABLE_BYTES),
        ("memory.max", f"{512 << 20}\n", 64 << 20),
        ("pod/memory.max", f"{256 << 20}\n", 32 << 20),
        ("memory/memory.limit_in_bytes", f"{1 << 30}\n", 128 << 20),
        ("memory/memory.limit_in_bytes", "9223372036854771712\n", TABLE_BYTES),
        ("memory/pods/memory.limit_in_bytes", f"{256 << 20}\n", 32 << 20),
        ("unknown", "1", TABLE_BYTES),
    ],
)
def test_a_table_may_take_an_eighth_of_the_limit_of_the_container(
    tmp_path: Path, file: str, content: str, expected: int
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(content)
    own = tmp_path / "own"
    own.write_text("4:memory:/pods\n0::/pod\n")
    assert table_bytes(tmp_path, own) == expected


def test_a_limit_of_the_process_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda kind: (800 << 20, -1))
    assert table_bytes(tmp_path, tmp_path / "own") == 100 << 20
