from __future__ import annotations

import os
import sys
from pathlib import Path

from steward.local.images.shared_libraries import parse_ldd, shared_libraries

LDD = """/opt/a.so:
\tlinux-vdso.so.1 (0x00007ffc1b5f2000)
\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f7f1a000000)
\tlibgone.so.1 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f7f1a8d2000)
/opt/b.so:
\tstatically linked
"""


def test_ldd_names_the_libraries_that_exist() -> None:
    assert parse_ldd(LDD) == {
        Path("/lib/x86_64-linux-gnu/libz.so.1"),
        Path("/lib64/ld-linux-x86-64.so.2"),
    }


def test_libraries_are_beside_libc_and_the_loader_keeps_its_path(tmp_path: Path) -> None:
    found = shared_libraries([Path(os.path.realpath(sys.executable))], tmp_path)
    directories = {Path(path).parent for path in found if not Path(path).name.startswith("ld-")}
    assert len(directories) == 1
    assert [path for path in found if Path(path).name.startswith("ld-linux")]
    assert all(source.is_file() for source in found.values())
