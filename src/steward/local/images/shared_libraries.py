"""The shared libraries that programs and Python extensions of this machine load, for an image without a base image."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from steward.local.errors import ImageNotMade

_RESOLVED = re.compile(r"(?:=>\s+)?(/\S+) \(0x[0-9a-f]+\)")
_BATCH = 100
# Loaded by glibc at run time, so no program lists them; newer versions contain the second and third.
_LOADED_LATER = ("libgcc_s.so.1", "libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2")


def shared_libraries(programs: Iterable[Path], own: Path) -> dict[str, Path]:
    """Path in the image and file here of each library that `programs` load from outside the directory `own`.

    All libraries go into the directory of libc, where the loader of this machine searches without configuration; the
    loader itself keeps its path, which every program names.
    """
    found = {path for path in _loaded(sorted(programs)) if not path.is_relative_to(own)}
    libc = next((path for path in found if path.name.startswith("libc.so")), None)
    if libc is None:
        raise ImageNotMade(
            "The operators' image cannot be made, because Python on this machine does not use the GNU C library: name "
            "a directory with an archive of the image with --images."
        )
    later = {libc.with_name(name) for name in _LOADED_LATER}
    libraries = {path for path in found | later if path.exists() and not _is_loader(path)}
    loaders = {str(path): path.resolve() for path in found if _is_loader(path)}
    return {str(libc.parent / path.name): path.resolve() for path in libraries} | loaders


def _is_loader(path: Path) -> bool:
    return path.name.startswith("ld-")


def _loaded(programs: list[Path]) -> set[Path]:
    ldd = shutil.which("ldd")
    if ldd is None:
        raise ImageNotMade(
            "The operators' image cannot be made without the program ldd: install it (Debian: the package libc-bin)."
        )
    batches = [programs[start : start + _BATCH] for start in range(0, len(programs), _BATCH)]
    return {path for batch in batches for path in parse_ldd(_run_ldd(ldd, batch))}


def _run_ldd(ldd: str, programs: list[Path]) -> str:
    # It fails for a file without dependencies, and still prints those of the others.
    return subprocess.run([ldd, *programs], capture_output=True, text=True, check=False).stdout


def parse_ldd(output: str) -> set[Path]:
    return {Path(found) for found in _RESOLVED.findall(output)}
