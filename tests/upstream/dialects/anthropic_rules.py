"""What Anthropic's Messages API refuses. The sources are those of `anthropic.py`."""

from __future__ import annotations

from typing import Any, NoReturn

from ..exchange import Refused, Request, Whole
from ..rules import blocks, is_number

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
"""Reference, "Errors"."""

FIELDS = {
    *("model", "messages", "max_tokens", "metadata", "stop_sequences", "stream", "system", "temperature", "tools"),
    *("tool_choice", "top_k", "top_p", "thinking", "service_tier", "container", "context_management", "mcp_servers"),
    *("output_format", "output_config", "inference_geo", "cache_control", "anthropic_version", "anthropic_beta", "betas"),
}
"""Reference, "Create a Message", with the fields of betas."""


def error(status: int, message: str, number: int) -> Whole:
    kind = TYPES.get(status, "api_error")
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": f"req_{number}"}
    return Whole(body, status)


def failure(status: int, message: str, request: Request) -> Whole:
    return error(status, message, request.number)


def check(request: Request, version: str | None) -> None:
    """Bedrock and Vertex AI name the version in the body instead of a header, and the model in the path."""
    headers, body = request.headers, request.body

    def refuse(message: str, status: int = 400) -> NoReturn:
        raise Refused(error(status, message, request.number))

    if version is None:
        # Reference, "Errors" (401) and "Overview", Authentication.
        if "x-api-key" not in headers and "authorization" not in headers:
            refuse("x-api-key header is required", 401)
        # Reference, "Versions": the header is required.
        if "anthropic-version" not in headers:
            refuse("anthropic-version: header is required")
    if not isinstance(body, dict):
        refuse("The request body is not valid JSON")
    if version is not None:
        # Guides "Claude on Vertex AI" and "Claude on Amazon Bedrock".
        if "anthropic_version" not in body:
            refuse("anthropic_version: Field required")
        if body["anthropic_version"] != version:
            refuse(f"anthropic_version: Input should be '{version}'")
    counts_only = request.path.endswith("/count_tokens")
    for field in ("messages", *(() if counts_only else ("max_tokens",)), *(() if version else ("model",))):
        # Reference, "Create a Message": required fields.
        if body.get(field) is None:
            refuse(f"{field}: Field required")
    for field in body:
        if field not in FIELDS:
            refuse(f"{field}: Extra inputs are not permitted")
    limit = body.get("max_tokens", 1)
    if not isinstance(limit, int) or isinstance(limit, bool):
        refuse("max_tokens: Input should be a valid integer")
    if limit < 1:
        refuse("max_tokens: Input should be greater than or equal to 1")
    # Reference, `temperature`: "Ranges from 0.0 to 1.0".
    if (heat := body.get("temperature")) is not None:
        if not is_number(heat):
            refuse("temperature: Input should be a valid number")
        if not 0 <= heat <= 1:
            refuse("temperature: range: 0..1")
    # Reference, `thinking.budget_tokens`: at least 1024, and less than `max_tokens`.
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled":
        if thinking.get("budget_tokens", 0) < 1024:
            refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if thinking["budget_tokens"] >= limit and not counts_only:
            refuse("`max_tokens` must be greater than `thinking.budget_tokens`")
    # Words: microsoft/autogen, `_anthropic_client.py`.
    if body.get("tool_choice") is not None and not body.get("tools"):
        refuse("tool_choice may only be specified while providing tools")
    if wrong := wrong_message(body["messages"]):
        refuse(wrong)


def results(message: dict[str, Any]) -> list[str]:
    """The calls that a message answers."""
    return [block["tool_use_id"] for block in blocks(message.get("content")) if block.get("type") == "tool_result"]


def wrong_message(messages: Any) -> str | None:
    """What is wrong with the messages: the roles, or tools and their results, which follow at once.

    Words of users' issues: ianarawjo/ChainForge#271 (`system`), anthropics/claude-code#6774 (empty content), #18947 (a
    result without a call), #7929 (a call without a result).
    """
    if not isinstance(messages, list):
        return "messages: Input should be a valid list"
    if not messages:
        return "messages: at least one message is required"
    calls: list[str] = []
    for place, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role == "system":
            accepts = "The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."
            return f'messages: Unexpected role "system". {accepts}'
        if role not in ("user", "assistant"):
            return f"messages.{place}.role: Input should be 'user' or 'assistant'"
        if content is None:
            return f"messages.{place}.content: Field required"
        if not content and not (role == "assistant" and place == len(messages) - 1):
            return f"messages.{place}: all messages must have non-empty content except for the optional final assistant message"
        answered = results(message)
        for index, block in enumerate(blocks(content)):
            if block.get("type") == "tool_result" and block["tool_use_id"] not in calls:
                found = f"unexpected `tool_use_id` found in `tool_result` blocks: {block['tool_use_id']}"
                rule = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                return f"messages.{place}.content.{index}: {found}. {rule}"
        if missing := [call for call in calls if call not in answered]:
            found = f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}"
            rule = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
            return f"messages.{place - 1}: {found}. {rule}"
        calls = [block["id"] for block in blocks(content) if block.get("type") == "tool_use"]
    return None
