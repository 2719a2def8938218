"""Made-up contents of answers: texts, and values that fit a JSON schema."""

from __future__ import annotations

import re
from typing import Any

SIGNS = "— naïve ☃ 𝄞"
"""Letters of two to four bytes, so that events cut inside a letter."""


def words(number: int, text: str) -> list[str]:
    """The answer with this number, in the pieces of a stream. `BIG=1000` in a prompt asks for so many words."""
    if big := re.search(r"\bBIG=(\d+)", text):
        return [f"w{place}x{number} " for place in range(int(big[1]))]
    return ["answer ", "number ", f"{number} ", f"{SIGNS} ", "end."]


def pieces(text: str) -> list[str]:
    """A text in the pieces of a stream."""
    return re.findall(r"[^ ]+ ?|\s+", text)


def chosen(tools: list[tuple[str, Any]], is_answered: bool, forced: str | None, text: str) -> list[tuple[str, Any]]:
    """Which tools the model calls: the one that is forced; or at first the first one (with `PARALLEL` in the prompt, the
    first two), then the one that ends the conversation, if there is one. `forced` is `*` if any will do."""
    ends = [tool for tool in tools if tool[0].startswith("final")]
    others = [tool for tool in tools if tool not in ends]
    if forced:
        return [tool for tool in tools if tool[0] == forced] or tools[:1]
    if others and not is_answered:
        return others[: 2 if "PARALLEL" in text else 1]
    return ends[:1]


def value(schema: Any, number: int, name: str = "value", root: Any = None, depth: int = 0) -> Any:
    """A value that fits a JSON schema, as far as providers accept schemas."""
    schema = schema or {}
    root = root or schema
    if reference := schema.get("$ref"):
        node = root
        for step in reference.lstrip("#/").split("/"):
            node = node[step]
        return value(node, number, name, root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    for key in ("anyOf", "oneOf", "allOf"):
        if options := schema.get(key):
            option = next((option for option in options if option.get("type") != "null"), options[0])
            return value(option, number, name, root, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next(one for one in kind if one != "null")
    kind = kind.lower()  # Gemini writes types in capitals
    if kind == "object":
        properties = schema.get("properties", {})
        return {key: value(inner, number, key, root, depth + 1) for key, inner in properties.items()}
    if kind == "array":
        count = max(2, schema.get("minItems", 2)) if depth < 8 else 0
        items = schema.get("items", {"type": "string"})
        return [value(items, number + place, name, root, depth + 1) for place in range(count)]
    if kind == "integer":
        return max(int(schema.get("minimum", 1)), min(number % 7 + 1, int(schema.get("maximum", 1000))))
    if kind == "number":
        return 0.5 + number
    return {"boolean": number % 2 == 0, "null": None}.get(kind, f"{name}-{number}")
