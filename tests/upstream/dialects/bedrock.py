"""Amazon Bedrock: converse and invoke, whole and streamed.

Sources: the Amazon Bedrock API reference, "Converse", "ConverseStream", "InvokeModel", "InvokeModelWithResponseStream" and
"Common errors"; the service model of botocore (`bedrock-runtime`), which has what is required; the errors that users
quote in issues, which each rule names by repository and number. What invoke answers depends on the model: here it is
Claude.
"""

from __future__ import annotations

import base64
import json
from typing import Any, NoReturn

from .. import made_up
from ..exchange import Refused, Request, Stream, Whole, written
from ..rules import is_number
from . import anthropic, anthropic_rules
from .event_stream import CONTENT_TYPE, event, exception

METHODS = ("converse", "converse-stream", "invoke", "invoke-with-response-stream")
ERRORS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
"""Reference, "Converse", errors."""


def takes(path: str) -> bool:
    return path.startswith("/model/") and path.rpartition("/")[2] in METHODS


def failure(status: int, message: str, request: Request) -> Whole:
    kind = {"x-amzn-ErrorType": ERRORS.get(status, "InternalServerException"), "x-amzn-RequestId": f"aws-{request.number}"}
    return Whole({"message": message}, status, kind)


def answer(request: Request) -> Whole | Stream:
    # Reference, "Common errors": MissingAuthenticationToken.
    if "authorization" not in request.headers:
        kind = {"x-amzn-ErrorType": "MissingAuthenticationTokenException"}
        raise Refused(Whole({"message": "Missing Authentication Token"}, 403, kind))
    method = request.path.rpartition("/")[2]
    wrong = exception("modelStreamErrorException", "made-up failure")
    if method.startswith("invoke"):
        said = invoked(request)
        if method == "invoke":
            return Whole(said)
        parts = list(anthropic.events(said))
        # Guide "Anthropic Claude Messages API", streaming: the last event of any model has the metrics.
        counts = {"inputTokenCount": 10 + request.number, "outputTokenCount": 7}
        times = {"invocationLatency": 20, "firstByteLatency": 10}
        parts[-1]["amazon-bedrock-invocationMetrics"] = {**counts, **times}
        chunks = [base64.b64encode(written(part).encode()).decode() for part in parts]
        return Stream([event("chunk", {"bytes": chunk, "p": "abc"}) for chunk in chunks], wrong, CONTENT_TYPE)
    check(request)
    content = contents(request)
    end = "tool_use" if "toolUse" in content[0] else "end_turn"
    number = request.number
    usage = {"inputTokens": 10 + number, "outputTokens": 5, "totalTokens": 15 + number}
    metrics = {"latencyMs": 10 + number}
    if method == "converse-stream":
        return Stream(list(events(content, end, usage, metrics)), wrong, CONTENT_TYPE)
    said = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": end}
    return Whole({**said, "usage": usage, "metrics": metrics}, headers={"x-amzn-RequestId": f"aws-{number}"})


def invoked(request: Request) -> dict[str, Any]:
    try:
        anthropic_rules.check(request, "bedrock-2023-05-31")
    except Refused as refused:  # Anthropic's words, in Amazon's form
        raise Refused(failure(400, refused.answer.body["error"]["message"], request)) from refused
    return anthropic.message(request)


def check(request: Request) -> None:
    def refuse(message: str) -> NoReturn:
        raise Refused(failure(400, message, request))

    body = request.body
    if not isinstance(body, dict):
        refuse("The request body is not valid JSON")
    messages = body.get("messages")
    # Words: elastic/kibana#246393.
    if not messages:
        again = "Try again with a conversation that starts with a user message."
        refuse(f"A conversation must start with a user message. {again}")
    heat = (body.get("inferenceConfig") or {}).get("temperature")
    # Reference, `InferenceConfiguration`: 0 to 1.
    if heat is not None and not (is_number(heat) and 0 <= heat <= 1):
        refuse("The value of temperature at 'inferenceConfig.temperature' must satisfy constraint: between 0 and 1")
    has_tools = bool((body.get("toolConfig") or {}).get("tools"))
    calls: list[str] = []
    for place, message in enumerate(messages):
        if message.get("role") not in ("user", "assistant"):
            where = f"Value '{message.get('role')}' at 'messages.{place + 1}.member.role'"
            rule = "failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]"
            refuse(f"1 validation error detected: {where} {rule}")
        # Words: earendil-works/pi#3443, archestra-ai/archestra#4220.
        if not message.get("content"):
            empty = f"The content field in the Message object at messages.{place} is empty."
            refuse(f"{empty} Add a ContentBlock object to the content field and try again.")
        answered = [part["toolResult"]["toolUseId"] for part in message["content"] if "toolResult" in part]
        # Words: OpenHands/OpenHands#4912, pydantic/pydantic-ai#2327.
        if len(answered) > len(calls):
            found = f"The number of toolResult blocks at messages.{place}.content"
            refuse(f"{found} exceeds the number of toolUse blocks of previous turn.")
        # Words: agno-agi/agno#6698, camel-ai/camel#3954.
        if missing := [call for call in calls if call not in answered]:
            refuse(f"Expected toolResult blocks at messages.{place}.content for the following Ids: {', '.join(missing)}")
        calls = [part["toolUse"]["toolUseId"] for part in message["content"] if "toolUse" in part]
        # Words: onyx-dot-app/onyx#7842, langgenius/dify#17545.
        if (calls or answered) and not has_tools:
            refuse("The toolConfig field must be defined when using toolUse and toolResult content blocks.")


def contents(request: Request) -> list[dict[str, Any]]:
    body, number = request.body, request.number
    config = body.get("toolConfig") or {}
    specs = [tool["toolSpec"] for tool in config.get("tools", []) if "toolSpec" in tool]
    tools = [(spec["name"], spec["inputSchema"]["json"]) for spec in specs]
    is_answered = any("toolResult" in part for message in body["messages"] for part in message["content"])
    choice = config.get("toolChoice") or {}
    forced = choice["tool"]["name"] if "tool" in choice else None
    if "any" in choice and not is_answered:
        forced = "*"
    picked = made_up.chosen(tools, is_answered, forced, request.text)
    calls = [
        {"toolUse": {"toolUseId": f"tu_{number}_{place}", "name": name, "input": made_up.value(schema, number)}}
        for place, (name, schema) in enumerate(picked)
    ]
    return calls or [{"text": "".join(made_up.words(number, request.text))}]


def events(content: list[dict[str, Any]], end: str, usage: Any, metrics: Any):
    """Reference, "ConverseStream"."""
    yield event("messageStart", {"role": "assistant"})
    for index, block in enumerate(content):
        where = {"contentBlockIndex": index}
        if "text" in block:
            deltas = [{"text": piece} for piece in made_up.pieces(block["text"])]
        else:
            call = block["toolUse"]
            begun = {"toolUse": {"toolUseId": call["toolUseId"], "name": call["name"]}}
            yield event("contentBlockStart", {**where, "start": begun})
            written_out = json.dumps(call["input"])
            deltas = [{"toolUse": {"input": written_out[at : at + 7]}} for at in range(0, len(written_out), 7)]
        for delta in deltas:
            yield event("contentBlockDelta", {**where, "delta": delta})
        yield event("contentBlockStop", where)
    yield event("messageStop", {"stopReason": end})
    yield event("metadata", {"usage": usage, "metrics": metrics})
