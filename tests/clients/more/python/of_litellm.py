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


def refused() -> str:
    wrong = [{"role": "tool", "tool_call_id": "none", "content": "fine"}]
    return litellm.completion(messages=wrong, **SETTINGS).choices[0].message.content


scenes.play(
    ask,
    tools=tools,
    stream=lambda question: scenes.parts(asked(question, stream=True), lambda chunk: chunk.choices[0].delta.content),
    timeout=lambda: ask(scenes.NEVER, timeout=scenes.LIMIT, max_retries=0),
    refused=refused,
)
