"""OpenAI's chat completions (platform.openai.com/docs/api-reference/chat-streaming)."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import openai
from blocks import Stream, streamed
from reading import Reading, counts
from sdk import CLIENT
from texts import cut, dumped, interleaved, text

UPSTREAM, VARIABLE = "openai", "OPENAI_BASE_URL"
SDK = openai.OpenAI(api_key="k", base_url="http://sdk.test/v1", http_client=CLIENT, max_retries=0)

ERRORS = [
    {"message": "The server had an error", "type": "server_error", "code": None},
    {"message": "", "code": 429},
    {"code": "rate_limit_exceeded"},
    "overloaded",
]


def path(number: int) -> str:
    return "/chat/completions"


def body(number: int) -> Any:
    return {"model": "m", "stream": True, "messages": [{"role": "user", "content": str(number)}]}


def number(asked: Any) -> int:
    return int(asked["messages"][0]["content"])


def calls(random: Random) -> list[dict[str, Any]]:
    """The deltas of tool calls: with their own indices, or with one index and an id each."""
    style = random.choice(["indices", "indices", "parallel", "one index"])
    lists = []
    for at in range(random.randint(1, 3)):
        index = 0 if style == "one index" else at
        pieces = cut(random, json.dumps({"x": text(random)}, ensure_ascii=random.random() < 0.5))
        name = random.choice(["f", "get_weather"])
        first = {"index": index, "id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": ""}}
        if random.random() < 0.3:
            first["function"]["arguments"] = pieces.pop(0)
        more = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
        if random.random() < 0.2:
            more = [{**it, "id": None, "type": None, "function": {"name": None, **it["function"]}} for it in more]
        lists.append([first, *more])
    if random.random() < 0.1:
        lists.append(custom(random, len(lists)))
    if random.random() < 0.1 and style == "indices" and len(lists) == 1:
        for delta in lists[0]:
            delta["function"]["name"] = name
    if style == "parallel":
        return interleaved(random, lists)
    return [delta for deltas in lists for delta in deltas]


def custom(random: Random, at: int) -> list[dict[str, Any]]:
    """A call of a custom tool, whose input is a text."""
    first = {"index": at, "id": f"call_{at}", "type": "custom", "custom": {"name": "c", "input": ""}}
    return [first, *({"index": at, "custom": {"input": piece}} for piece in cut(random, "x" + text(random)))]


def logprob(random: Random, piece: str) -> Any:
    number = random.choice([-0.1, float("-inf"), float("nan"), float("inf"), -9999.0, 1e-300])
    return {"content": [{"token": piece, "logprob": number, "bytes": None, "top_logprobs": []}], "refusal": None}


def choice(random: Random, index: int, odd: bool) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    if random.random() < 0.8:
        deltas.append({"role": "assistant", "content": random.choice(["", None])})
    if random.random() < 0.3:
        deltas += [{"reasoning_content": piece} for piece in cut(random, text(random))]
    said = text(random) + (random.choice(["\ud83d", "\ude00", "\ude00\ud83d"]) if odd else "") + text(random)
    name = "refusal" if random.random() < 0.15 else "content"
    deltas += [{name: piece} for piece in cut(random, said, 8)]
    called = random.random() < 0.4
    if called:
        deltas += [{"tool_calls": [call]} for call in calls(random)]
    for delta in deltas:
        if random.random() < 0.05:
            delta["x_unknown"] = random.choice([1, None, {"a": 1}, [1], True])
    reasons = ["tool_calls"] if called else ["stop", "length", "content_filter"]
    reason = random.choice([*reasons, "x_new"])
    chunks = [{"index": index, "delta": delta, "finish_reason": None} for delta in deltas]
    if random.random() < 0.2:
        for chunk in chunks:
            if chunk["delta"].get("content"):
                chunk["logprobs"] = logprob(random, "a")
    if random.random() < 0.95:
        chunks.append({"index": index, "delta": {}, "finish_reason": reason})
    return chunks


def make(random: Random) -> Stream:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    count = random.choice([1, 1, 1, 1, 2, 3])
    odd = random.random() < 0.1
    chunks = interleaved(random, [choice(random, index, odd) for index in range(count)])
    events = [{**head, "choices": [chunk]} for chunk in chunks]
    if random.random() < 0.3:
        counts = random.choice([None, {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}])
        events = [{**event, "usage": counts} for event in events]
    if random.random() < 0.1:
        events.insert(0, {**head, "choices": [], "prompt_filter_results": [{"prompt_index": 0}]})
    usage = {"prompt_tokens": random.randint(0, 99), "completion_tokens": random.randint(0, 99), "total_tokens": 99}
    if random.random() < 0.6:
        events.append({**head, "choices": [], "usage": usage})
    if random.random() < 0.06:
        at = random.randint(0, len(events))
        error = {"error": random.choice(ERRORS)}
        events[at:] = [error, *(events[at:] if random.random() < 0.5 else [])]
    data = [(None, dumped(random, event)) for event in events]
    if random.random() < 0.9:
        data.append((None, "[DONE]"))
        if random.random() < 0.2:
            late = {**head, "choices": [{"index": 0, "delta": {"content": "late"}, "finish_reason": None}]}
            data.append((None, random.choice(["[DONE]", dumped(random, late), "late"])))
    return streamed(random, data)


def read_by_sdk() -> Reading:
    choices: dict[int, tuple[Reading, list[tuple[int, dict[str, Any]]]]] = {}
    out = Reading()
    usage = None
    try:
        for chunk in SDK.chat.completions.create(model="m", messages=[], stream=True):
            said = getattr(chunk, "usage", None)
            usage = (said.prompt_tokens, said.completion_tokens) if said else usage
            for choice in getattr(chunk, "choices", None) or []:
                add(choices.setdefault(choice.index, (Reading(), [])), choice)
    except Exception as error:
        out.error = repr(error)
        out.failed = isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError)
    found = []
    for index, (reading, called) in sorted(choices.items(), key=lambda item: item[0]):
        reading.calls = [(call["name"], call["arguments"]) for _, call in sorted(called, key=lambda it: it[0])]
        reading.index = index
        found.append(reading)
    first = found[0] if found else Reading()
    first.others, first.usage = found[1:], usage
    first.error, first.failed = out.error, out.failed
    return first


def add(to: tuple[Reading, list[tuple[int, dict[str, Any]]]], choice: Any) -> None:
    reading, called = to
    delta = choice.delta
    reading.text += delta.content or ""
    reading.refusal += delta.refusal or ""
    reading.reasoning += getattr(delta, "reasoning_content", None) or ""
    reading.finish = choice.finish_reason or reading.finish
    for piece in delta.tool_calls or []:
        known = [call for index, call in called if index == piece.index]
        # Servers that give all calls one index give each an id.
        if not known or (piece.id and known[-1]["id"] != piece.id):
            known.append({"id": piece.id, "name": "", "arguments": ""})
            called.append((piece.index, known[-1]))
        if piece.function:
            known[-1]["name"] = piece.function.name or known[-1]["name"]
            known[-1]["arguments"] += piece.function.arguments or ""
        if custom := getattr(piece, "custom", None):
            known[-1]["name"] = custom.get("name") or known[-1]["name"]
            known[-1]["arguments"] += custom["input"]


def read_by_retold(answer: Any, content: str) -> Reading:
    extra = answer.get("extra", {})
    out = of_message({**extra, "content": content}, answer.get("finish_reason"))
    out.usage = counts(answer)
    out.index = extra.get("choice", {}).get("index", 0)
    for choice in extra.get("other_choices", []):
        out.others.append(of_message(choice["message"], choice.get("finish_reason")))
        out.others[-1].index = choice["index"]
    return out


def of_message(message: Any, finish: str | None) -> Reading:
    tools = [call.get("function") or call.get("custom") or {} for call in message.get("tool_calls") or []]
    called = [(it.get("name", ""), it.get("arguments", it.get("input", ""))) for it in tools]
    text, refusal = message.get("content") or "", message.get("refusal") or ""
    return Reading(text, message.get("reasoning_content") or "", refusal, called, finish)
