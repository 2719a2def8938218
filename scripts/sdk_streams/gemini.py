"""Gemini's generateContent (ai.google.dev/api/generate-content), streamed as events or as a list."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from blocks import Block, Stream, cut_off, streamed
from google import genai
from google.genai import errors, types
from reading import Reading
from responses import read_by_retold  # noqa: F401
from sdk import CLIENT
from texts import cut, dumped, joined, text

UPSTREAM, VARIABLE = "gemini", "GOOGLE_GEMINI_BASE_URL"
SDK = genai.Client(api_key="k", http_options=types.HttpOptions(httpx_client=CLIENT))


def path(number: int) -> str:
    return "/v1beta/models/m:streamGenerateContent?alt=sse"


def body(number: int) -> Any:
    return {"contents": [{"role": "user", "parts": [{"text": str(number)}]}]}


def number(asked: Any) -> int:
    return int(asked["messages"][0]["parts"][0]["text"])


def parts(random: Random, odd: bool) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for _ in range(random.randint(0, 3)):
        kind = random.choice(["text", "text", "text", "thought", "call"])
        said = text(random) + ("\ud83d" if odd else "")
        if kind == "call":
            call = {"name": "f", "args": {"x": text(random), "n": 1}}
            out.append({"functionCall": call | random.choice([{}, {"id": "c"}])})
            if random.random() < 0.1:
                del call["args"]
        else:
            thought = {"thought": True} if kind == "thought" else {}
            out += [{"text": piece, **thought} for piece in cut(random, said)]
    if random.random() < 0.1:
        code = {"executableCode": {"code": "1", "language": "PYTHON"}}
        out.append(random.choice([{"text": "", "thoughtSignature": "c2ln"}, code]))
    return out


def make(random: Random) -> Stream:
    counts = {"promptTokenCount": random.randint(1, 99), "candidatesTokenCount": 1, "totalTokenCount": 100}
    if random.random() < 0.3:
        counts["thoughtsTokenCount"] = random.randint(1, 9)
    events: list[dict[str, Any]] = []
    said = parts(random, random.random() < 0.1)
    while said:
        size = random.randint(1, 2)
        events.append({"candidates": [{"content": {"parts": said[:size], "role": "model"}, "index": 0}]})
        said = said[size:]
    last: dict[str, Any] = {"finishReason": random.choice(["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"])}
    if random.random() < 0.1:
        last["avgLogprobs"] = random.choice([float("nan"), float("-inf"), -0.5])
    if random.random() < 0.5:
        last["content"] = {"role": "model", "parts": [{"text": ""}]}
    if events and random.random() < 0.5:
        last = {**last, **events.pop()["candidates"][0]}
    if random.random() < 0.9:
        events.append({"candidates": [{"index": 0, **last}]})
    if random.random() < 0.05:
        events = [{"promptFeedback": {"blockReason": "SAFETY"}}]
    if events and random.random() < 0.1:
        several(random, events)
    for at, event in enumerate(events):
        counts = {**counts, "candidatesTokenCount": counts["candidatesTokenCount"] + at}
        event |= {"usageMetadata": counts, "modelVersion": "m", "responseId": "r"}
    if random.random() < 0.06:
        at = random.randint(0, len(events))
        error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
        events[at:] = [error, *(events[at:] if random.random() < 0.5 else [])]
    data = [dumped(random, event) for event in events]
    is_list = random.random() < 0.25
    return listed(random, data) if is_list else streamed(random, [(None, each) for each in data])


def several(random: Random, events: list[dict[str, Any]]) -> None:
    """Adds a second candidate, as `candidateCount` asks for it: in the same events, or in its own."""
    other = {"content": {"role": "model", "parts": [{"text": "other"}]}, "index": 1}
    for event in list(events):
        if random.random() < 0.5 and "candidates" in event:
            event["candidates"].append(other)
        else:
            events.insert(random.randint(0, len(events)), {"candidates": [other]})


def listed(random: Random, data: list[str]) -> Stream:
    """A stream without `alt=sse`: one list, whose items come one after the other. The SDK never asks for it."""
    blocks = []
    for at, each in enumerate(data):
        before = "[" if at == 0 else random.choice([",\r\n", ",", "\n,\n"])
        after = random.choice(["]", "\n]\n"]) if at + 1 == len(data) else ""
        blocks.append(Block(f"{before}{each}{after}".encode(), f"data: {each}\n\n".encode()))
    stream = Stream(blocks, {"list"}, "application/json")
    cut_off(random, stream)
    return stream


def read_by_sdk() -> Reading:
    out = Reading()
    try:
        for chunk in SDK.models.generate_content_stream(model="m", contents="x"):
            if chunk.usage_metadata:
                used = chunk.usage_metadata
                said, thoughts = used.candidates_token_count, used.thoughts_token_count
                # As retold has them: all tokens of the answer in one count.
                out.usage = (used.prompt_token_count, None if said is None else said + (thoughts or 0))
            if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
                out.finish = chunk.prompt_feedback.block_reason.value
            for candidate in chunk.candidates or []:
                # Other candidates are not compared.
                if candidate.index:
                    continue
                if candidate.finish_reason:
                    out.finish = candidate.finish_reason.value
                for part in (candidate.content and candidate.content.parts) or []:
                    add(out, part)
    except Exception as error:
        out.error, out.failed = repr(error), isinstance(error, errors.APIError)
    return out


def add(out: Reading, part: Any) -> None:
    if part.thought:
        out.reasoning += part.text or ""
    else:
        out.text += part.text or ""
    if part.function_call:
        given = part.function_call.args
        out.calls.append((part.function_call.name, json.dumps(given) if given else "{}"))
