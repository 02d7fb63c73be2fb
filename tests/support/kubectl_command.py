"""Parsed command lines of kubectl."""

from typing import Any, NamedTuple

_SHORT = {
    "-n": "--namespace",
    "-l": "--selector",
    "-f": "--filename",
    "-p": "--patch",
    "-A": "--all-namespaces",
}
_SWITCHES = {
    "--all-namespaces",
    "--force-conflicts",
    "--ignore-not-found",
    "--overwrite",
    "--server-side",
    "--show-managed-fields",
}


class KubectlCommand(NamedTuple):
    """A parsed command line."""

    words: list[str]
    options: dict[str, str]
    document: Any

    def has(self, *names: str) -> bool:
        return all(name in self.options for name in names)

    def only(self, *names: str) -> bool:
        return not set(self.options) - set(names)

    @property
    def namespace(self) -> str:
        return "" if self.has("--all-namespaces") else self.options.get("--namespace", "default")

    def with_default_namespace(self, manifest: Any) -> str:
        """The namespace in which kubectl writes this manifest."""
        return str(manifest["metadata"].get("namespace") or self.namespace)


def parse_command(args: tuple[str, ...], document: Any) -> KubectlCommand | None:
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(args)
    for word in rest:
        option, equals, value = word.partition("=")
        option = _SHORT.get(option, option)
        if not word.startswith("-") or word == "-":
            words.append(word)
        elif option in _SWITCHES:
            options[option] = value or "true"
        else:
            options[option] = value if equals else next(rest, "")
    return KubectlCommand(words, options, document) if words else None
