"""The APIs that the fake upstream speaks: a module each."""

from __future__ import annotations

from types import ModuleType

from . import anthropic, cohere, gemini, openai_chat, openai_responses

DIALECTS: list[ModuleType] = [openai_chat, openai_responses, anthropic, gemini, cohere]
"""Each has `takes(path)`, `answer(request)` and `failure(status, message, request)`. The first that takes a path answers."""


def dialect_of(path: str) -> ModuleType | None:
    return next((dialect for dialect in DIALECTS if dialect.takes(path)), None)
