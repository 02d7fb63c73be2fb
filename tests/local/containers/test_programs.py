"""Programs that are unpacked and not installed."""

from __future__ import annotations

import os
from pathlib import Path

from steward.local.containers.programs import wrapper_script
from tests.local.containers.support.assemblies import PROGRAMS


def test_a_wrapper_finds_the_libraries_of_its_package() -> None:
    script = wrapper_script(Path("/c/iptables"), "xtables-nft-multi", "iptables-save")
    libraries = f"/c/iptables/usr/lib/{os.uname().machine}-linux-gnu"
    assert f"LD_LIBRARY_PATH='{libraries}'" in script
    assert f"XTABLES_LIBDIR='{libraries}/xtables'" in script
    assert script.endswith("exec '/c/iptables/usr/sbin/xtables-nft-multi' iptables-save \"$@\"\n")


def test_programs_of_one_directory_are_searched_once() -> None:
    assert PROGRAMS.search_path == (Path("/packages/usr/bin"), Path("/usr/sbin"))
