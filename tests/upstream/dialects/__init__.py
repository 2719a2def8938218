"""The APIs that the fake upstream speaks: a module each."""

from __future__ import annotations

from types import ModuleType

from . import anthropic, bedrock, cohere, cohere_v1, gemini, mistral, ollama, openai_chat, openai_other, openai_responses

DIALECTS: list[ModuleType] = [
    *(mistral, openai_chat, openai_responses, openai_other, anthropic, gemini, cohere, cohere_v1, bedrock, ollama),
]
"""Each has `takes(path)`, `answer(request)` and `failure(status, message, request)`. The first that takes a path answers:
Mistral's end as OpenAI's or, on Vertex AI, as Anthropic's do, and completions as chat completions do."""


def dialect_of(path: str) -> ModuleType | None:
    return next((dialect for dialect in DIALECTS if dialect.takes(path)), None)
