"""Google's Gemini API, and the same requests by way of Vertex AI, whose paths are longer.

Sources: the Gemini API reference, "Generating content", "Embeddings" and "Counting tokens"; its guide "Troubleshooting" for
statuses; the errors that users of the SDKs quote in their issues. `gemini_rules.py` has what is refused.
"""

from __future__ import annotations

import json
from typing import Any

from .. import made_up
from ..exchange import Request, Stream, Whole, server_sent, written
from .gemini_rules import check, error, failure

__all__ = ["answer", "failure", "takes"]

METHODS = ("generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents", "predict")


def takes(path: str) -> bool:
    return path.rpartition(":")[2] in METHODS


def answer(request: Request) -> Whole | Stream:
    method = request.path.rpartition(":")[2]
    check(request, method)
    number, body = request.number, request.body
    if method == "countTokens":
        return Whole({"totalTokens": number})
    if method == "embedContent":
        return Whole({"embedding": {"values": [number + 0.5, 1, 2]}})
    if method == "batchEmbedContents":
        return Whole({"embeddings": [{"values": [number + 0.5, place, 2]} for place in range(len(body["requests"]))]})
    if method == "predict":  # embeddings of Vertex AI
        of_each = {"values": [number + 0.5, 1.0], "statistics": {"token_count": 3, "truncated": False}}
        return Whole({"predictions": [{"embeddings": of_each} for _ in body["instances"]]})
    replies = list(parts_of(request, is_streamed=method == "streamGenerateContent"))
    if method == "generateContent":
        return Whole(replies[0])
    inside = error(503, "The model is overloaded. Please try again later.").body
    # Reference, `streamGenerateContent`: server-sent events with `alt=sse`, otherwise one JSON array.
    if request.query.get("alt") == ["sse"]:
        return Stream([server_sent(reply) for reply in replies], server_sent(inside), comment=b": keep-alive\n\n")
    first, *others = (written(reply).encode() for reply in replies)
    events = [b"[" + first, *(b",\r\n" + other for other in others), b"]"]
    return Stream(events, b",\r\n" + written(inside).encode() + b"]", "application/json", b" ")


def parts_of(request: Request, is_streamed: bool) -> list[dict[str, Any]]:
    number = request.number
    usage = {"promptTokenCount": 10 + number, "candidatesTokenCount": 5, "totalTokenCount": 16 + number}
    usage |= {"cachedContentTokenCount": 2, "thoughtsTokenCount": 1}
    calls = called(request)
    parts = [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls]
    pieces = [parts] if parts else [[{"text": piece}] for piece in made_up.pieces(text(request))]
    if not is_streamed and not parts:
        pieces = [[{"text": text(request)}]]
    replies = []
    for place, piece in enumerate(pieces):
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": piece}, "index": 0}
        if place == len(pieces) - 1:
            candidate["finishReason"] = "STOP"
        base = {"modelVersion": "gemini-made-up", "responseId": f"r{number}"}
        replies.append({"candidates": [candidate], "usageMetadata": usage, **base})
    return replies


def text(request: Request) -> str:
    config = request.body.get("generationConfig") or {}
    if schema := config.get("responseSchema") or config.get("responseJsonSchema"):
        return json.dumps(made_up.value(schema, request.number))
    return "".join(made_up.words(request.number, request.text))


def called(request: Request) -> list[tuple[str, Any]]:
    body = request.body
    declared = [tool for tools in body.get("tools") or [] for tool in tools.get("functionDeclarations", [])]
    tools = [(tool["name"], tool.get("parameters") or tool.get("parametersJsonSchema")) for tool in declared]
    parts = [part for content in body["contents"] for part in content["parts"]]
    is_answered = any("functionResponse" in part for part in parts)
    mode = ((body.get("toolConfig") or {}).get("functionCallingConfig") or {}).get("mode")
    forced = "*" if mode == "ANY" and not is_answered else None
    picked = [] if mode == "NONE" else made_up.chosen(tools, is_answered, forced, request.text)
    return [(name, made_up.value(schema, request.number)) for name, schema in picked]
