"""Full names of images, as containerd and the kubelet write them. Pure."""

from __future__ import annotations

_DEFAULT_HOST = "docker.io"
_DEFAULT_TAG = "latest"


def full_name(name: str) -> str:
    """`steward:1` becomes `docker.io/library/steward:1`; a name without tag and digest gets the tag `latest`."""
    first, slash, rest = name.partition("/")
    if not slash:
        host, path = _DEFAULT_HOST, f"library/{name}"
    elif _is_host(first):
        host, path = first, rest
    else:
        host, path = _DEFAULT_HOST, name
    return f"{host}/{_with_tag(path)}"


def _is_host(text: str) -> bool:
    # The rule of every client: a first part without dot and colon is a path on the default registry.
    return "." in text or ":" in text or text == "localhost"


def _with_tag(path: str) -> str:
    last = path.rpartition("/")[2]
    return path if ":" in last or "@" in last else f"{path}:{_DEFAULT_TAG}"
