"""One object for each entry of a list in a column: the rendered text of `forEach`. Pure.

An entry is known by its key, not by its position: a list that is sorted in another way must not delete and create
objects. The key of a text or a number is the entry itself, that of a map its `name`, `key` or `id`.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from steward.gotemplate.data import from_json
from steward.tenants.errors import RenderError

FIELD: Final = "forEach"
ITEM, ITEM_KEY = "item", "itemKey"
ITEM_VARIABLES: Final = (ITEM, ITEM_KEY)
MAX_ITEMS: Final = 50
"""Of one resource: each is an object that is rendered, applied and recorded in the status."""
_KEY_FIELDS: Final = ("name", "key", "id")
_SAFE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_CURE: Final = 'write a column with a JSON list, such as ["a", "b"], or build one with list and toJson'


class Item(NamedTuple):
    key: str
    value: Any

    def variables(self) -> dict[str, Any]:
        return {ITEM: self.value, ITEM_KEY: self.key}


def parse_items(rendered: str) -> list[Item]:
    """No items for a blank text, as an empty column gives. The messages of a RenderError hold nothing of the row."""
    if not rendered.strip():
        return []
    try:
        value = from_json(rendered)
    except ValueError:
        raise RenderError(FIELD, f"renders a text that is no JSON: {_CURE}") from None
    if not isinstance(value, list):
        raise RenderError(FIELD, f"renders JSON that is no list: {_CURE}")
    if len(value) > MAX_ITEMS:
        raise RenderError(
            FIELD, f"renders a list of {len(value)} entries, and may have {MAX_ITEMS}: shorten it"
        )
    items = [Item(_key_of(entry, number), entry) for number, entry in enumerate(value, start=1)]
    _check_keys(items)
    return items


def _key_of(entry: Any, number: int) -> str:
    if isinstance(entry, dict):
        entry = next((entry[field] for field in _KEY_FIELDS if entry.get(field) not in (None, "")), None)
    if isinstance(entry, bool) or not isinstance(entry, str | float) or entry == "":
        message = (
            f"entry {number} of the list has no key: make it a text, or give the map a name, a key or an id"
        )
        raise RenderError(FIELD, message)
    return entry if isinstance(entry, str) else f"{entry:g}"


def _check_keys(items: Iterable[Item]) -> None:
    positions: dict[str, int] = {}
    for number, item in enumerate(items, start=1):
        if item.key in positions:
            message = (
                f"entries {positions[item.key]} and {number} of the list have the same key: keep one of them"
            )
            raise RenderError(FIELD, message)
        positions[item.key] = number


def item_id(resource: str, item: Item) -> str:
    """The id of the object for an item: `domains[www.example.com]`. A key that is long or has other characters is
    shortened, with a hash that keeps it apart from others."""
    if _SAFE.fullmatch(item.key):
        return f"{resource}[{item.key}]"
    digest = hashlib.sha256(item.key.encode(errors="surrogatepass")).hexdigest()[:10]
    readable = _UNSAFE.sub("-", item.key)[:40].strip("-.")
    return f"{resource}[{readable}-{digest}]"
