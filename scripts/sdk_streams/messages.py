"""Anthropic's messages (docs.anthropic.com, "Streaming messages")."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import anthropic
from blocks import Stream, streamed
from reading import Reading, counts
from sdk import CLIENT
from texts import cut, dumped, joined, text

UPSTREAM, VARIABLE = "anthropic", "ANTHROPIC_BASE_URL"
SDK = anthropic.Anthropic(api_key="k", base_url="http://sdk.test", http_client=CLIENT, max_retries=0)


def path(number: int) -> str:
    return "/v1/messages"


def body(number: int) -> Any:
    return {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": str(number)}]}


def number(asked: Any) -> int:
    return int(asked["messages"][0]["content"])


def block(random: Random, index: int, odd: bool) -> list[dict[str, Any]]:
    kind = random.choice(["text", "text", "text", "thinking", "tool_use", "tool_use", "redacted_thinking", "x_unknown"])
    said = text(random) + (random.choice(["\ud83d", "\ude00"]) if odd else "")
    start: dict[str, Any] = {"type": kind}
    deltas: list[dict[str, Any]] = []
    if kind == "text":
        start["text"] = random.choice(["", "", "", "begun "])
        deltas = [{"type": "text_delta", "text": piece} for piece in cut(random, said)]
    elif kind == "thinking":
        start |= {"thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in cut(random, said)]
        deltas.append({"type": "signature_delta", "signature": "c2ln"})
    elif kind == "tool_use":
        start |= {"id": f"toolu_{index}", "name": "f", "input": {}}
        if random.random() < 0.1:
            start["input"] = {"x": "begun"}
        elif random.random() < 0.8:
            given = json.dumps({"x": text(random), "n": 1}, ensure_ascii=random.random() < 0.5)
            pieces = cut(random, given) + random.choice([[], [""]])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    elif kind == "redacted_thinking":
        start["data"] = "ZGF0YQ=="
    if random.random() < 0.05:
        deltas.append({"type": "x_unknown_delta", "x": 1})
    events = [{"type": "content_block_start", "index": index, "content_block": start}]
    events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [*events, {"type": "content_block_stop", "index": index}]


def make(random: Random) -> Stream:
    usage = {"input_tokens": random.randint(0, 99), "output_tokens": 1}
    if random.random() < 0.3:
        usage |= {"cache_read_input_tokens": 5, "cache_creation_input_tokens": random.choice([0, 3])}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    odd = random.random() < 0.1
    for index in range(random.randint(0, 4)):
        events += block(random, index, odd)
        if random.random() < 0.3:
            events.insert(random.randint(1, len(events)), {"type": "ping"})
    reason = random.choice(["end_turn", "max_tokens", "tool_use", "stop_sequence", "refusal", "x_new"])
    used: dict[str, Any] = {"output_tokens": random.randint(1, 99)}
    if random.random() < 0.3:
        used |= {"input_tokens": random.choice([None, 50]), "cache_read_input_tokens": None}
    events.append({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": used})
    events.append({"type": "message_stop"})
    if random.random() < 0.06:
        at = random.randint(0, len(events))
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        if random.random() < 0.2:
            del error["type"]
        events[at:] = [error, *(events[at:] if random.random() < 0.5 else [])]
    if random.random() < 0.05:
        events[random.randrange(len(events))]["x_unknown"] = {"a": [1]}
    stream = streamed(random, [(event.get("type", "error"), dumped(random, event)) for event in events])
    return stream


def read_by_sdk() -> Reading:
    """Adds the deltas as `accumulate_event` of the SDK does, without its checks of the inputs of tools."""
    blocks: dict[int, dict[str, Any]] = {}
    used: dict[str, int] = {}
    out = Reading()
    try:
        for event in SDK.messages.create(model="m", max_tokens=9, messages=[], stream=True):
            if event.type == "message_start":
                used = event.message.usage.to_dict()
            elif event.type == "content_block_start":
                blocks[event.index] = {**event.content_block.to_dict(), "json": ""}
            elif event.type == "content_block_delta":
                found, delta = blocks[event.index], event.delta
                for name, key in [("text", "text"), ("thinking", "thinking"), ("partial_json", "json")]:
                    found[key] = found.get(key, "") + (getattr(delta, name, None) or "")
            elif event.type == "message_delta":
                out.finish = event.delta.stop_reason
                used |= {name: count for name, count in event.usage.to_dict().items() if count is not None}
    except Exception as error:
        out.error, out.failed = repr(error), isinstance(error, anthropic.APIStatusError)
    for _, found in sorted(blocks.items(), key=lambda item: item[0]):
        add(out, found, found["json"] or found.get("input"))
    cached = [used.get(name) or 0 for name in ("cache_read_input_tokens", "cache_creation_input_tokens")]
    if used:
        begun = used.get("input_tokens")
        out.usage = (None if begun is None else begun + sum(cached), used.get("output_tokens"))
    return out


def add(out: Reading, found: Any, given: Any) -> None:
    if found.get("type") == "text":
        out.text += joined(found.get("text", ""))
    elif found.get("type") == "thinking":
        out.reasoning += joined(found.get("thinking", ""))
    elif found.get("type") == "tool_use":
        out.calls.append((found["name"], given))


def read_by_retold(answer: Any, content: str) -> Reading:
    out = Reading(content, finish=answer.get("finish_reason"), usage=counts(answer))
    for part in answer.get("extra", {}).get("content_parts", []):
        if part.get("type") != "text":
            add(out, part, part.get("input"))
    return out
