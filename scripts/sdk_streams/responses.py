"""OpenAI's Responses (platform.openai.com/docs/api-reference/responses-streaming)."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import openai
from blocks import Stream, streamed
from chat import SDK, UPSTREAM, VARIABLE, of_message  # noqa: F401
from reading import Reading, counts
from texts import cut, dumped, joined, text

#: For each kind of call, what its input is called, and the events that bring it.
CALLS = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
}


def path(number: int) -> str:
    return "/responses"


def body(number: int) -> Any:
    return {"model": "m", "stream": True, "input": [{"role": "user", "content": str(number)}]}


def number(asked: Any) -> int:
    return int(asked["messages"][0]["content"])


def item(random: Random, at: int, odd: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The events of an item, and the item."""
    kind = random.choice(["message", "message", "function_call", "reasoning"] * 4 + ["x_unknown", "custom_tool_call"])
    whole: dict[str, Any] = {"id": f"item_{at}", "type": kind}
    here = {"item_id": whole["id"], "output_index": at}
    events: list[dict[str, Any]] = []
    said = text(random) + ("\ud83d" if odd else "")
    if kind in CALLS:
        key, name = CALLS[kind]
        given = json.dumps({"x": text(random)}, ensure_ascii=random.random() < 0.5)
        whole |= {"call_id": f"call_{at}", "name": "f", key: ""}
        begun = copy.deepcopy(whole)
        events += [{"type": f"{name}.delta", **here, "delta": piece} for piece in cut(random, given)]
        events.append({"type": f"{name}.done", **here, key: given})
        whole[key] = given
    elif kind == "message":
        whole |= {"role": "assistant", "content": []}
        begun = copy.deepcopy(whole)
        for index in range(random.choice([1, 1, 2])):
            name, key = random.choice([("output_text", "text")] * 4 + [("refusal", "refusal")])
            place = {**here, "content_index": index}
            part = {"type": name, key: ""} | ({"annotations": []} if key == "text" else {})
            events.append({"type": "response.content_part.added", **place, "part": part})
            events += [{"type": f"response.{name}.delta", **place, "delta": piece} for piece in cut(random, said)]
            events.append({"type": f"response.{name}.done", **place, key: said})
            events.append({"type": "response.content_part.done", **place, "part": {**part, key: said}})
            whole["content"].append({**part, key: said})
    elif kind == "reasoning":
        whole |= {"summary": []}
        begun = copy.deepcopy(whole)
        # Open models have the reasoning itself, in `content`.
        summary = ("summary", "summary_text", "response.reasoning_summary_text")
        itself = ("content", "reasoning_text", "response.reasoning_text")
        for list_name, kind, name in random.choice([[summary, summary], [summary], [itself]]):
            place = {**here, f"{list_name}_index": len(whole.setdefault(list_name, []))}
            events += [{"type": f"{name}.delta", **place, "delta": piece} for piece in cut(random, said)]
            events.append({"type": f"{name}.done", **place, "text": said})
            whole[list_name].append({"type": kind, "text": said})
    else:
        begun = copy.deepcopy(whole)
    added = {"type": "response.output_item.added", "output_index": at, "item": begun}
    done = {"type": "response.output_item.done", "output_index": at, "item": whole}
    # The events that end a text have it as well.
    without = random.random() < 0.1
    if without:
        events = [event for event in events if not event["type"].endswith(".delta")]
    return [added, *events, done], whole


def make(random: Random) -> Stream:
    reply: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": []}
    reply |= {"status": "in_progress", "error": None, "incomplete_details": None, "usage": None}
    events = [{"type": f"response.{name}", "response": reply} for name in ("created", "in_progress")]
    output, odd = [], random.random() < 0.1
    for at in range(random.randint(0, 3)):
        more, whole = item(random, at, odd)
        events += more
        output.append(whole)
    end = random.choice(["completed"] * 4 + ["incomplete", "failed", None])
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    counts = {"input_tokens": random.randint(0, 99), "output_tokens": random.randint(0, 99), "total_tokens": 9}
    if end:
        last = {**reply, "status": end, "output": output, "usage": {**counts, **details}}
        if end == "incomplete":
            last["incomplete_details"] = {"reason": random.choice(["max_output_tokens", "content_filter"])}
        if end == "failed":
            last |= {"error": {"code": "server_error", "message": "failed"}, "usage": None}
            last["output"] = random.choice([[], output])
        events.append({"type": f"response.{end}", "response": last})
    if random.random() < 0.06:
        at = random.randint(0, len(events))
        error: dict[str, Any] = {"type": "error", "code": "server_error", "message": "failed", "param": None}
        if random.random() < 0.3:
            error = {"type": "error", "error": {"type": "server_error", "code": "server_error", "message": "failed"}}
        events[at:] = [error, *(events[at:] if random.random() < 0.5 else [])]
    events = [{**event, "sequence_number": number} for number, event in enumerate(events)]
    data = [(event["type"], dumped(random, event)) for event in events]
    if random.random() < 0.1:
        data.append((None, "[DONE]"))
    stream = streamed(random, data)
    return stream


def read_by_sdk() -> Reading:
    last: Any = None
    items: dict[int, dict[str, Any]] = {}
    error = None
    try:
        for event in SDK.responses.create(model="m", input="x", stream=True):
            last = add(items, event) or last
    except Exception as raised:
        error = raised
    reply = last.to_dict(warnings=False) if last is not None else {}
    output = reply.get("output") or [found for _, found in sorted(items.items())]
    out = Reading(error=error and repr(error))
    out.failed = isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError)
    for found in output:
        for part in found.get("content") or []:
            if found["type"] == "reasoning":
                out.reasoning += joined(part.get("text") or "")
            else:
                out.text += joined(part.get("text") or "")
            out.refusal += joined(part.get("refusal") or "")
        for part in found.get("summary") or []:
            out.reasoning += joined(part.get("text") or "")
        if found["type"] in CALLS:
            out.calls.append((found["name"], found[CALLS[found["type"]][0]]))
    reason = (reply.get("incomplete_details") or {}).get("reason")
    # The word of chat completions, as retold has it.
    out.finish = {"max_output_tokens": "length", None: reply.get("status")}.get(reason, reason)
    if usage := reply.get("usage"):
        out.usage = (usage["input_tokens"], usage["output_tokens"])
    return out


def add(items: dict[int, dict[str, Any]], event: Any) -> Any:
    """Adds an event to the items; returns its response, if it has one."""
    if event is None or isinstance(event, list):
        return None
    if event.type in ("response.output_item.added", "response.output_item.done"):
        items[event.output_index] = event.item.to_dict(warnings=False)
    elif event.type.endswith((".delta", ".done")) and not event.type.startswith("response.content_part"):
        found, is_done = items[event.output_index], event.type.endswith(".done")
        if found["type"] in CALLS:
            key = CALLS[found["type"]][0]
            found[key] = getattr(event, key) if is_done else found[key] + event.delta
        else:
            name, key = ("summary", "text") if "summary" in event.type else ("content", "text")
            key = "refusal" if "refusal" in event.type else key
            index = event.summary_index if name == "summary" else event.content_index
            parts = found.setdefault(name, [])
            parts += [{} for _ in range(index + 1 - len(parts))]
            parts[index][key] = getattr(event, key) if is_done else parts[index].get(key, "") + event.delta
    return getattr(event, "response", None)


def read_by_retold(answer: Any, content: str) -> Reading:
    extra = answer.get("extra", {})
    out = of_message({**extra, "content": content}, answer.get("finish_reason"))
    out.reasoning = extra.get("reasoning") or ""
    out.usage = counts(answer)
    return out
