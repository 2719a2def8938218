"""Mistral's SDK, which reads its base URL from no variable."""

import os

import scenes
from mistralai.client import Mistral
from mistralai.client.utils import BackoffStrategy, RetryConfig

again = RetryConfig("backoff", BackoffStrategy(10, 50, 1.5, 5000), retry_connection_errors=True)
client = Mistral(api_key=scenes.KEY or "none", server_url=os.environ["MISTRAL_BASE_URL"], retry_config=again)
PARAMETERS = {"type": "object", "properties": {"place": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in ("weather", "wind")]


def messages(question: str) -> list:
    return [{"role": "user", "content": question}]


def ask(question: str, **more) -> str:
    return client.chat.complete(model="m", messages=messages(question), **more).choices[0].message.content


def tools() -> list:
    asked = messages(scenes.WEATHER)
    message = client.chat.complete(model="m", messages=asked, tools=TOOLS).choices[0].message
    asked.append(message)
    for call in message.tool_calls:
        asked.append({"role": "tool", "tool_call_id": call.id, "content": call.function.arguments})
    return [message, client.chat.complete(model="m", messages=asked, tools=TOOLS).choices[0].message]


def shown(event) -> str:
    return event.data.choices[0].delta.content if event.data.choices else "usage"


scenes.play(
    ask,
    lambda question: scenes.parts(client.chat.stream(model="m", messages=messages(question)), shown),
    tools=tools,
    embedded=lambda: client.embeddings.create(model="m", inputs=["a", "b"]).data,
    timeout=lambda: ask(scenes.NEVER, timeout_ms=int(scenes.LIMIT * 1000), retries=RetryConfig("none", None, False)),
    refused=lambda: ask(scenes.COLOUR, temperature=3.0),
)
