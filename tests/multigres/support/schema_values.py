"""Random values that a schema accepts, including extreme ones.

Drawn from a seeded generator, so that a failing case can be reproduced from its number.
"""

import re
from functools import cache
from random import Random
from typing import Any

from steward.kube.crd.schema import CustomKind, definition
from steward.multigres.api.kinds import CUSTOM_KINDS

WORDS = (
    "",
    "a",
    "z1",
    "z2",
    "default",
    "main",
    "0-inf",
    "a_b",
    "A",
    "-",
    "ä✓",
    "\u0000",
    "x" * 25,
    "x" * 30,
    "x" * 63,
    "x" * 253,
    "x" * 512,
    "0",
    "1",
    "-1",
    "1Gi",
    "1e3",
    "1e400",
    "9" * 19,
    "100m",
    "1.5",
    "1n",
    "10Pi",
    "+1",
    "http://e:1",
    "https://e:2379",
    "https://e.example.com:2379/x",
    "203.0.113.1",
    "::1",
    "30s",
    "80%",
    "250%",
    "1h30m",
    "/",
    "/backups",
    "/a/../b",
    "* * * * *",
    "not a cron",
    "Europe/Berlin",
    "Nowhere/Here",
    "2026-01-01T00:00:00Z",
    "0123abcd",
    "a.b/c",
    "example.com/a",
)
KEYS = ("cpu", "memory", "main", "default", "x" * 25, "", "ä", "a_b")
NUMBERS = (-(2**31), -1, 0, 1, 2, 3, 5, 32, 128, 2**31 - 1, 2**53)
TIMES = ("2026-01-01T00:00:00Z", "1970-01-01T00:00:00Z")
UNTYPED = ({}, {"a": 1}, {"nodeAffinity": {}}, {"nodeAffinity": "wrong"}, {"a": [None, {}]})


@cache
def spec_schema(kind: str) -> dict[str, Any]:
    [custom] = [each for each in CUSTOM_KINDS if each.kind == kind]
    schema: dict[str, Any] = _properties(custom)["spec"]
    return schema


def status_schema(custom: CustomKind) -> dict[str, Any]:
    schema: dict[str, Any] = _properties(custom)["status"]
    return schema


def _properties(custom: CustomKind) -> dict[str, Any]:
    [version] = definition(custom)["spec"]["versions"]
    properties: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]
    return properties


class SchemaValues:
    """Draws values for a schema."""

    def __init__(self, seed: int, max_length: int = 3) -> None:
        self._random = Random(seed)
        self._max_length = max_length

    def value(self, schema: dict[str, Any]) -> Any:
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        if schema.get("x-kubernetes-int-or-string"):
            return self._int_or_text(schema)
        if "properties" in schema:
            return self._object(schema)
        return getattr(self, f"_{schema.get('type', 'untyped')}")(schema)

    def _object(self, schema: dict[str, Any]) -> Any:
        if "properties" in schema:
            required = set(schema.get("required", ()))
            chance = self._random.choice((0.1, 0.3, 0.7))
            return {
                name: self.value(nested)
                for name, nested in schema["properties"].items()
                if name in required or self._random.random() < chance
            }
        if "additionalProperties" in schema:
            return self._map(schema)
        return self._random.choice(UNTYPED)

    def _untyped(self, schema: dict[str, Any]) -> Any:
        return self._random.choice(UNTYPED)

    def _map(self, schema: dict[str, Any]) -> dict[str, Any]:
        most = min(schema.get("maxProperties", self._max_length), self._max_length)
        keys = self._random.sample(KEYS, self._random.randint(0, most))
        return {key: self.value(schema["additionalProperties"]) for key in keys}

    def _array(self, schema: dict[str, Any]) -> list[Any]:
        least, most = (
            schema.get("minItems", 0),
            min(schema.get("maxItems", self._max_length), self._max_length),
        )
        items = [self.value(schema["items"]) for _ in range(self._random.randint(least, max(least, most)))]
        keys = schema.get("x-kubernetes-list-map-keys")
        if keys:
            return list({tuple(str(item.get(key)) for key in keys): item for item in items}.values())
        return items

    def _string(self, schema: dict[str, Any]) -> str:
        if schema.get("format") == "date-time":
            return self._random.choice(TIMES)
        limits = schema.get("minLength", 0), schema.get("maxLength", 10_000)
        accepted = _accepted_words(*limits, schema.get("pattern", ""))
        assert accepted, f"no word matches {schema}"
        return self._random.choice(accepted)

    def _int_or_text(self, schema: dict[str, Any]) -> int | str:
        if self._random.random() < 0.3:
            return self._random.choice(NUMBERS)
        return self._string(schema)

    def _integer(self, schema: dict[str, Any]) -> int:
        largest = NUMBERS[-2] if schema.get("format") == "int32" else NUMBERS[-1]
        low, high = schema.get("minimum", NUMBERS[0]), schema.get("maximum", largest)
        return self._random.choice([number for number in (*NUMBERS, low, high) if low <= number <= high])

    def _number(self, schema: dict[str, Any]) -> float:
        return self._integer(schema)

    def _boolean(self, _: dict[str, Any]) -> bool:
        return self._random.random() < 0.5


@cache
def _accepted_words(least: int, most: int, pattern: str) -> tuple[str, ...]:
    return tuple(word for word in WORDS if least <= len(word) <= most and re.search(pattern, word))
