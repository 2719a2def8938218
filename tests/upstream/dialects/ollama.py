"""Ollama's own API.

Sources: Ollama's API reference (`docs/api.md`), "Generate a completion", "Generate a chat completion" and "Generate
Embeddings"; the messages of its server (`server/routes.go`), which refuses little: an unknown role or an embedding
without an input are answered. It needs no key.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .. import made_up
from ..exchange import Refused, Request, Stream, Whole, written

PATHS = ("/api/chat", "/api/generate", "/api/embed")
LINES = "application/x-ndjson"


def takes(path: str) -> bool:
    return path.endswith(PATHS)


def failure(status: int, message: str, _: Request) -> Whole:
    return Whole({"error": message}, status)


def answer(request: Request) -> Whole | Stream:
    check(request)
    number, body = request.number, request.body
    base = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
    if request.path.endswith("/api/embed"):
        given = body.get("input") or []
        texts = given if isinstance(given, list) else [given]
        vectors = [[number + 0.5, place] for place in range(len(texts))]
        return Whole({"model": body["model"], "embeddings": vectors, "prompt_eval_count": 3})
    is_chat = request.path.endswith("/api/chat")

    def part(text: str, calls: Any = None) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
        return {**base, **({"message": message} if is_chat else {"response": text})}

    calls = called(request) if is_chat else []
    pieces = [part("", calls)] if calls else [part(piece) for piece in made_up.words(number, request.text)]
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 10 + number, "eval_count": 5}
    # Reference: "stream: if false the response will be returned as a single response object".
    if body.get("stream", True):
        lines = [*({**piece, "done": False} for piece in pieces), {**part(""), **end}]
        inside = written({"error": "an error was encountered while running the model"}).encode() + b"\n"
        return Stream([written(line).encode() + b"\n" for line in lines], inside, LINES)
    whole = part("", calls) if calls else part("".join(made_up.words(number, request.text)))
    return Whole({**whole, **end})


def check(request: Request) -> None:
    def refuse(message: str, status: int = 400) -> NoReturn:
        raise Refused(Whole({"error": message}, status))

    body = request.body
    # `server/routes.go`: an empty body, in every handler.
    if body is None:
        refuse("missing request body")
    is_embedding = request.path.endswith("/api/embed")
    # `server/routes.go`: `scheduleRunner`, and for embeddings `EmbedHandler`.
    if not isinstance(body, dict) or not body.get("model"):
        refuse(*("model '' not found", 404) if is_embedding else ("model is required",))
    # `server/routes.go`, `EmbedHandler`: a text or a list of texts.
    given = body.get("input")
    is_text = given is None or isinstance(given, str)
    is_list = isinstance(given, list) and all(isinstance(text, str) for text in given)
    if is_embedding and not is_text and not is_list:
        refuse("invalid input type")


def called(request: Request) -> list[dict[str, Any]]:
    body = request.body
    tools = [(tool["function"]["name"], tool["function"].get("parameters")) for tool in body.get("tools") or []]
    is_answered = any(message["role"] == "tool" for message in body.get("messages") or [])
    picked = made_up.chosen(tools, is_answered, None, request.text)
    return [{"function": {"name": name, "arguments": made_up.value(schema, request.number)}} for name, schema in picked]
