"""Splits a stream of chunks into lines of any length. Pure.

A watch event is one line and may have megabytes: the pieces of a line are joined once, when it ends. A last line
without its newline is never returned.
"""


class LineSplitter:
    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk, without their newline; empty ones are left out."""
        first, *rest = chunk.split(b"\n")
        self._pieces.append(first)
        if not rest:
            return []
        lines = [b"".join(self._pieces), *rest[:-1]]
        self._pieces = [rest[-1]]
        return [line for line in lines if line]
