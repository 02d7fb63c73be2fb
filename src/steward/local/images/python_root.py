"""The root directory of the operators' image: what the Dockerfile makes, from the Python of this machine.

The base image of the Dockerfile is replaced by the interpreter that runs now, with its standard library and shared
libraries. The packages are those of this environment instead of a new download. So the image needs no network, is
made in seconds and runs the same code as the command line.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from steward.install import monitoring
from steward.local.errors import ImageNotMade
from steward.local.images.distributions import installed_files, required_distributions
from steward.local.images.shared_libraries import shared_libraries

DISTRIBUTION = "steward"
PREFIX = "/opt/steward"
_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
_STANDARD_LIBRARY = f"usr/local/lib/{_PYTHON}"
_PACKAGES = f"{PREFIX.strip('/')}/lib/{_PYTHON}/site-packages"
_PACKAGE = Path(__file__).parents[2]
_LEFT_OUT = {
    *("test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3"),
    *("site-packages", "dist-packages", "__pycache__"),
}
_ZONES = Path("/usr/share/zoneinfo")
_TEXTS = {
    "etc/passwd": "root:x:0:0:root:/:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
    f"{PREFIX.strip('/')}/pyvenv.cfg": "home = /usr/local/bin\ninclude-system-site-packages = false\n",
}


def inputs() -> str:
    """Identifies everything that the image is made from."""
    digest = hashlib.sha256(f"{sys.version} {os.path.realpath(sys.executable)}\n".encode())
    for name, distribution in required_distributions(DISTRIBUTION).items():
        digest.update(f"{name} {distribution.version}\n".encode())
    for path, source in sorted(_own_files().items()):
        digest.update(path.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def build(root: Path) -> None:
    """Fill the empty directory `root`."""
    for path, text in (_TEXTS | _scripts()).items():
        _write(root / path, text)
    for path, source in _files().items():
        _copy(source, root / path)
    for link, target in _links().items():
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(target)
    for path, source in shared_libraries(_programs(root), root).items():
        _copy(source, root / path.strip("/"))
    _compile(root)


def _files() -> dict[str, Path]:
    """Path below the root and file here."""
    packages = [installed_files(each) for each in required_distributions(DISTRIBUTION).values()]
    files = {f"usr/local/bin/{_PYTHON}": Path(os.path.realpath(sys.executable))}
    files |= _tree(Path(sysconfig.get_path("stdlib")), _STANDARD_LIBRARY)
    for each in [*packages, _own_files()]:
        files |= {f"{_PACKAGES}/{path}": source for path, source in each.items()}
    if _ZONES.is_dir():
        files |= _tree(_ZONES, str(_ZONES).strip("/"))
    return files


def _own_files() -> dict[str, Path]:
    """Steward itself: from a checkout or from an installed wheel."""
    files = _tree(_PACKAGE, "steward") | _tree(monitoring.directory(), "steward/install/monitoring_files")
    described = metadata.distribution(DISTRIBUTION)
    for path in described.files or ():
        # The others name directories of this machine.
        if path.name in {"METADATA", "WHEEL", "entry_points.txt"} and path.parent.name.endswith(".dist-info"):
            files[str(path)] = Path(str(path.locate()))
    return files


def _tree(directory: Path, target: str) -> dict[str, Path]:
    return {f"{target}/{path.relative_to(directory)}": path for path in _walk(directory)}


def _walk(directory: Path) -> Iterator[Path]:
    for parent, children, names in os.walk(directory):
        children[:] = [child for child in children if _is_kept(child)]
        yield from (Path(parent, name) for name in names if not name.endswith((".pyc", ".a")))


def _is_kept(directory: str) -> bool:
    return directory not in _LEFT_OUT and not directory.startswith("config-")


def _links() -> Mapping[str, str]:
    binaries = PREFIX.strip("/") + "/bin"
    return {
        "usr/local/bin/python3": _PYTHON,
        "usr/local/bin/python": _PYTHON,
        f"{binaries}/python": f"/usr/local/bin/{_PYTHON}",
        f"{binaries}/python3": "python",
    }


def _scripts() -> dict[str, str]:
    """The commands of the distribution, as an installer writes them."""
    entries = metadata.distribution(DISTRIBUTION).entry_points.select(group="console_scripts")
    return {f"{PREFIX.strip('/')}/bin/{each.name}": _script(each) for each in entries}


def _script(entry: metadata.EntryPoint) -> str:
    return (
        f"#!{PREFIX}/bin/python\nimport sys\nfrom {entry.module} import {entry.attr}\n"
        f"if __name__ == '__main__':\n    sys.exit({entry.attr}())\n"
    )


def _programs(root: Path) -> list[Path]:
    return [root / f"usr/local/bin/{_PYTHON}", *root.rglob("*.so"), *root.rglob("*.so.*")]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755 if path.parent.name == "bin" else 0o644)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def _compile(root: Path) -> None:
    """Compile every module ahead: the file system of the operator is read-only, and imports are several times slower
    without."""
    options = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", "/"]
    places = [root / _STANDARD_LIBRARY, root / _PACKAGES]
    done = subprocess.run(
        [sys.executable, "-m", "compileall", *options, *places],
        capture_output=True,
        text=True,
        check=False,
        # Sets in compiled code would otherwise have another order each time.
        env=os.environ | {"PYTHONHASHSEED": "0"},
    )
    if done.returncode:
        raise ImageNotMade(
            f"The operators' image cannot be made, because a module does not compile: {done.stdout.strip()[-300:]}"
        )
