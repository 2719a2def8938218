"""litellm, as a client of OpenAI's API."""

import os
import warnings

warnings.simplefilter("ignore")
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise it fetches a list of prices when it is imported

import litellm
import scenes

litellm.suppress_debug_info = True
SETTINGS = {"model": "openai/m", "api_base": os.environ["OPENAI_BASE_URL"], "api_key": scenes.KEY or "none"}
TOOL = {"name": "weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}


def asked(question: str, **more):
    return litellm.completion(messages=[{"role": "user", "content": question}], **{**SETTINGS, "max_retries": 4, **more})


def ask(question: str, **more) -> str:
    return asked(question, **more).choices[0].message.content


def tools() -> str:
    messages = [{"role": "user", "content": scenes.WEATHER}]
    settings = {**SETTINGS, "messages": messages, "tools": [{"type": "function", "function": TOOL}]}
    message = litellm.completion(**settings).choices[0].message
    messages.append(message.model_dump())
    for call in message.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": f"fine: {call.function.arguments}"})
    return litellm.completion(**settings).choices[0].message.content


def stream() -> list:
    return [chunk.choices[0].delta.content for chunk in asked(scenes.STORY, stream=True)]


def refused() -> str:
    wrong = [{"role": "tool", "tool_call_id": "none", "content": "fine"}]
    return litellm.completion(messages=wrong, **SETTINGS).choices[0].message.content


scenes.show("plain", lambda: [ask(scenes.COLOUR) for _ in range(2)])
scenes.show("tools", tools)
scenes.show("stream", stream)
scenes.show("at once", lambda: scenes.at_once(ask))
scenes.show("busy", lambda: ask(scenes.BUSY))
scenes.show("broken", lambda: ask(scenes.BROKEN))
scenes.show("compressed", lambda: ask(scenes.COMPRESSED))
scenes.show("timeout", lambda: ask(scenes.NEVER, timeout=scenes.LIMIT, max_retries=0))
scenes.show("refused", refused)
