import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.kube.transport.line_splitter import LineSplitter


def fed(*chunks: bytes) -> list[bytes]:
    splitter = LineSplitter()
    return [line for chunk in chunks for line in splitter.feed(chunk)]


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a", b"b", b"c\n"), [b"abc"]),
        ((b"a\n", b"\n", b"\nb\n"), [b"a", b"b"]),
        ((b"whole\ncut off",), [b"whole"]),
        ((b"", b"a", b"\n"), [b"a"]),
        ((), []),
    ],
)
def test_chunks_become_whole_lines(chunks: tuple[bytes, ...], lines: list[bytes]) -> None:
    assert fed(*chunks) == lines


def test_a_line_may_be_of_any_length() -> None:
    chunk = b"x" * 65536
    assert fed(*[chunk] * 100, b"\n") == [chunk * 100]


@given(st.lists(st.binary(max_size=20)), st.integers(1, 7))
def test_where_the_chunks_are_cut_does_not_matter(parts: list[bytes], size: int) -> None:
    whole = b"\n".join(parts) + b"\n"
    cut = [whole[start : start + size] for start in range(0, len(whole), size)]
    assert fed(*cut) == [line for line in whole.split(b"\n") if line]
