"""Replaces itself with a program in another mount namespace.

    python -I -S mount_namespace.py [--join PIDFILE] [--bind SOURCE TARGET]... -- COMMAND [ARGUMENT ...]

Without --join the namespace is a new one that gets later mounts of the machine and gives none back: whatever the
program mounts disappears with the last process of the namespace, also after a crash. --join enters the namespace of the
process in PIDFILE. --bind shows SOURCE at TARGET.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_SLAVE = 0x1000, 0x4000, 0x80000
_libc = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    options, command = split_command(arguments)
    if options[:1] == ["--join"]:
        join(options[1])
    else:
        unshare()
        for index in range(0, len(options), 3):
            bind(options[index + 1], options[index + 2])
    os.execv(command[0], command)


def split_command(arguments: list[str]) -> tuple[list[str], list[str]]:
    separator = arguments.index("--")
    return arguments[:separator], arguments[separator + 1 :]


def unshare() -> None:
    check(_libc.unshare(CLONE_NEWNS), "unshare")
    check(_libc.mount(b"none", b"/", None, MS_REC | MS_SLAVE, None), "mount --make-rslave /")


def bind(source: str, target: str) -> None:
    # The target of a link: mount(2) would otherwise fail for a relative one whose directory is another.
    resolved = os.path.realpath(target)
    check(_libc.mount(source.encode(), resolved.encode(), None, MS_BIND | MS_REC, None), f"mount {resolved}")


def join(pidfile: str) -> None:
    with open(pidfile) as file:  # noqa: PTH123 - importing pathlib takes longer than the rest of this program
        pid = json.load(file)["pid"]
    namespace = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    check(_libc.setns(namespace, CLONE_NEWNS), f"setns {pid}")


def check(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main(sys.argv[1:])
