"""Mistral's chat completions and embeddings: the form of OpenAI's, with other fields and other errors.

Sources: Mistral's API reference, "Chat" and "Embeddings", and its published OpenAPI description (`HTTPValidationError`,
`ChatCompletionRequest`, which forbids other fields); the errors that users quote in issues, which each rule names by
repository and number. Its paths are OpenAI's, so this server has them after `/mistral`.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ..exchange import Refused, Request, Stream, Whole
from . import openai_chat, openai_other

FIELDS = {
    *("model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed", "metadata", "n"),
    *("response_format", "tools", "tool_choice", "presence_penalty", "frequency_penalty", "prediction", "safe_prompt"),
    *("parallel_tool_calls", "prompt_mode", "guardrails", "reasoning_effort", "prompt_cache_key"),
}
VERTEX = "/publishers/mistralai/models/"
"""Vertex AI serves the same chat at `:rawPredict` and `:streamRawPredict` (the SDK, mistralai_gcp)."""
AFTER = {
    "system": ("system", "user", "assistant"),
    "user": ("system", "user", "assistant"),
    "assistant": ("user", "assistant", "tool"),
    "tool": ("assistant", "tool"),
}
"""The roles that may follow one: the library mistral-common, `MistralRequestValidator`."""


def takes(path: str) -> bool:
    return path in ("/mistral/v1/chat/completions", "/mistral/v1/embeddings") or VERTEX in path


def failure(status: int, message: str, request: Request) -> Whole:
    kind = {429: "rate_limited", 400: "invalid_request_error", 401: "unauthorized"}.get(status, "internal_server_error")
    base = {"object": "error", "message": message, "type": kind, "param": None, "code": None}
    return Whole({**base, "raw_status_code": status}, status)


def answer(request: Request) -> Whole | Stream:
    check(request)
    if request.path.endswith("/embeddings"):
        vectors = openai_other.embeddings(request)
        # `EmbeddingResponse` in the OpenAPI description: the identifier and the completion's tokens are required.
        vectors.body |= {"id": f"emb-{request.number}"}
        vectors.body["usage"] |= {"completion_tokens": 0}
        return vectors
    body = request.body | ({"stream": True} if request.path.endswith(":streamRawPredict") else {})
    said = openai_chat.reply(body, request)
    if isinstance(said, Stream):
        said.error = b'data: {"object":"error","message":"made-up failure","type":"internal_server_error","code":"3000"}\n\n'
    return said


def check(request: Request) -> None:
    body = request.body

    def refuse(message: str, status: int = 400) -> NoReturn:
        raise Refused(failure(status, message, request))

    def invalid(kind: str, place: list[Any], message: str) -> NoReturn:
        """`HTTPValidationError`: 422."""
        raise Refused(Whole({"detail": [{"type": kind, "loc": ["body", *place], "msg": message}]}, 422))

    if not request.headers.get("authorization", "").startswith("Bearer "):
        raise Refused(Whole({"detail": "Unauthorized"}, 401))
    if not isinstance(body, dict):
        invalid("json_invalid", [0], "JSON decode error")
    is_chat = not request.path.endswith("/embeddings")
    for field in ("model", "messages" if is_chat else "input"):
        if body.get(field) is None:
            invalid("missing", [field], "Field required")
    if not is_chat:
        return
    for field in body:
        if field not in FIELDS:
            invalid("extra_forbidden", [field], "Extra inputs are not permitted")
    # OpenAPI description: `temperature` is 0 to 1.5.
    if (heat := body.get("temperature")) is not None and not 0 <= heat <= 1.5:
        invalid("less_than_equal", ["temperature"], "Input should be less than or equal to 1.5")
    calls, last = 0, None
    for place, message in enumerate(body["messages"]):
        if message.get("role") not in AFTER:
            known = ", ".join(f"'{role}'" for role in AFTER)
            said = f"Input tag '{message.get('role')}' found using 'role' does not match any of the expected tags: {known}"
            invalid("union_tag_invalid", ["messages", place], said)
        # mistral-common, `_validate_message_order`; mistralai/mistral-vibe#1114.
        if last and message["role"] not in AFTER[last]:
            refuse(f"Unexpected role '{message['role']}' after role '{last}'")
        last = message["role"]
        # mistral-common, `_validate_tool_calls_followed_by_tool_messages`.
        if last == "assistant" and calls:
            refuse("Not the same number of function calls and responses")
        calls += len(message.get("tool_calls") or []) - (last == "tool")
    if calls:
        refuse("Not the same number of function calls and responses")
    # The API continues conversations of users and tools alone, unless the assistant's last message is a `prefix`. Words:
    # 0xPlaygrounds/rig#1130.
    if last == "assistant" and not body["messages"][-1].get("prefix"):
        refuse("Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant")
