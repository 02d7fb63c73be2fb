"""Go's path package; path/filepath is the same on Unix."""


def clean(path: str) -> str:
    """The shortest equal path."""
    if not path:
        return "."
    rooted = path[0] == "/"
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif parts and parts[-1] != "..":
            parts.pop()
        elif not rooted:
            parts.append("..")
    return "/" + "/".join(parts) if rooted else "/".join(parts) or "."


def base(path: str) -> str:
    """The last element."""
    if not path:
        return "."
    stripped = path.rstrip("/")
    return stripped[stripped.rfind("/") + 1 :] if stripped else "/"


def directory(path: str) -> str:
    """All but the last element, cleaned."""
    return clean(path[: path.rfind("/") + 1])


def extension(path: str) -> str:
    """The suffix from the last dot of the last element."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""


def is_absolute(path: str) -> bool:
    return path.startswith("/")
