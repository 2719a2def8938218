"""Random texts, cut anywhere: also between the two halves of a surrogate pair, as servers in JavaScript and Java do."""

from __future__ import annotations

import json
from random import Random
from typing import Any

WORDS = [
    "a", "two ", "\u00e4", "\u20ac", "\U0001f600", "\n", '"', "\\", "{}", "[DONE]", "data: x\n\n", "\u2028", "\x85",
    "e\u0301", " ",
]  # fmt: skip


def text(random: Random, most: int = 8) -> str:
    return "".join(random.choice(WORDS) for _ in range(random.randint(0, most)))


def cut(random: Random, whole: str, most: int = 4) -> list[str]:
    """The pieces of a text, cut between UTF-16 units."""
    units = whole.encode("utf-16-le", "surrogatepass")
    length = len(units) // 2
    at = sorted(random.randint(0, length) for _ in range(random.randint(0, most)))
    ends = zip([0, *at], [*at, length])
    return [units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass") for a, b in ends]


def joined(said: str) -> str:
    """A text with the halves of pairs joined; a half that is alone is U+FFFD."""
    return said.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def dumped(random: Random, value: Any) -> str:
    """JSON as servers write it: compact or not, escaped or not. Halves can only be written as escapes."""
    spaced = random.choice([(",", ":"), (", ", ": ")])
    try:
        written = json.dumps(value, ensure_ascii=False, separators=spaced)
        written.encode()
        if random.random() < 0.5:
            return written
    except UnicodeEncodeError:
        pass
    return json.dumps(value, separators=spaced)


def interleaved(random: Random, lists: list[list[Any]]) -> list[Any]:
    """All items of several lists, each list in its order."""
    left = [list(reversed(items)) for items in lists if items]
    out = []
    while left:
        items = random.choice(left)
        out.append(items.pop())
        left = [items for items in left if items]
    return out
