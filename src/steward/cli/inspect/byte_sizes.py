"""Sizes as people read them. Pure."""


def format_bytes(written: int | None) -> str:
    """The empty text if it is unknown."""
    size = float(written or 0)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if size else ""
        size /= 1024
    return f"{size:.1f} TiB"
