"""What the rules of several dialects share."""

from __future__ import annotations

from typing import Any

NAMES = {bool: "a boolean", int: "an integer", float: "a decimal", str: "a string", list: "an array", dict: "an object"}


def name_of(value: Any) -> str:
    """The JSON type of a value, as OpenAI's and Anthropic's errors call it."""
    return "null" if value is None else NAMES[type(value)]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def blocks(content: Any) -> list[dict[str, Any]]:
    """The parts of a message whose content is a list; none if it is a text."""
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
