"""Texts of Helm templates: manifests with tokens, which are replaced by Helm expressions."""

import re
from typing import Any

import yaml

from steward.kube.objects.kinds import Manifest

NOTE = "# Made by `make generate` from src/steward/install: edit there.\n"


class HelmTokens:
    """Tokens that stand for Helm expressions. The line of an optional token is omitted when its value is empty."""

    def __init__(self) -> None:
        self._expressions: list[str] = []

    def value(self, path: str) -> Any:
        return self.expression(f"{{{{ {path} }}}}")

    def json(self, expression: str) -> Any:
        return self.expression(f"{{{{ toJson {expression} }}}}")

    def expression(self, text: str) -> Any:
        self._expressions.append(text)
        return f"HelmToken{len(self._expressions) - 1}x"

    def optional(self, path: str, json_value: str = ".") -> Any:
        """`json_value`: an expression in which the value is the dot."""
        self._expressions.append(f"{path}|{json_value}")
        return f"HelmOptional{len(self._expressions) - 1}x"

    def substitute(self, text: str) -> str:
        whole_lines = re.sub(
            r"^( *)(\w+): HelmOptional(\d+)x\n", self._optional_block, text, flags=re.MULTILINE
        )
        return re.sub(r"HelmToken(\d+)x", lambda found: self._expressions[int(found[1])], whole_lines)

    def _optional_block(self, found: re.Match[str]) -> str:
        indent, key, number = found.groups()
        path, _, json_value = self._expressions[int(number)].partition("|")
        lines = (
            f"{{{{- with {path} }}}}",
            f"{key}: {{{{ toJson {json_value} }}}}",
            "{{- end }}",
        )
        return "".join(f"{indent}{line}\n" for line in lines)


def dump(manifest: Manifest) -> str:
    dumped: str = yaml.safe_dump(manifest, sort_keys=False, width=1000, allow_unicode=True)
    return dumped


def template_file(objects: list[Manifest], condition: str, tokens: HelmTokens) -> str:
    text = "---\n".join(map(dump, objects))
    body = tokens.substitute(text)
    return f"{NOTE}{{{{- if {condition} }}}}\n{body}{{{{- end }}}}\n" if condition else NOTE + body


def block(condition: str, objects: list[Manifest]) -> str:
    text = "".join(f"---\n{dump(manifest)}" for manifest in objects)
    return f"{{{{- {condition} }}}}\n{text}{{{{- end }}}}\n"
