"""Cohere's SDK, which reads its base URL from a variable that retold does not set: `--upstream cohere=URL`."""

import os

import cohere
import scenes

client = cohere.ClientV2(scenes.KEY or "none", base_url=os.environ["COHERE_BASE_URL"])
PARAMETERS = {"type": "object", "properties": {"place": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in ("weather", "wind")]


def messages(question: str) -> list:
    return [{"role": "user", "content": question}]


def ask(question: str, **options) -> str:
    return client.chat(model="m", messages=messages(question), request_options=options).message.content[0].text


def tools() -> list:
    asked = messages(scenes.WEATHER)
    message = client.chat(model="m", messages=asked, tools=TOOLS).message
    asked.append({"role": "assistant", "tool_calls": message.tool_calls, "tool_plan": message.tool_plan})
    for call in message.tool_calls:
        asked.append({"role": "tool", "tool_call_id": call.id, "content": call.function.arguments})
    return [message, client.chat(model="m", messages=asked, tools=TOOLS).message]


def embed(texts: list[str]) -> list:
    types = {"input_type": "search_query", "embedding_types": ["float"]}
    return client.embed(model="m", texts=texts, **types).embeddings.float_


def kind(event) -> str:
    return event.delta.message.content.text if event.type == "content-delta" else event.type


def left() -> list:
    """The client leaves a stream before its end."""
    stream = client.chat_stream(model="m", messages=messages("SLOW BIG=200 Tell a saga."))
    seen = [kind(next(stream)) for _ in range(9)]
    stream.close()
    return seen


scenes.play(
    ask,
    tools=tools,
    stream=lambda question: scenes.parts(client.chat_stream(model="m", messages=messages(question)), kind),
    embedded=lambda: embed(["a", "b"]),
    ranked=lambda: client.rerank(model="m", query="a", documents=["a", "b"]).results,
    late=lambda: ask("LATE=800 Name a star.", timeout_in_seconds=scenes.LIMIT, max_retries=3),
    left=left,
    timeout=lambda: ask(scenes.NEVER, timeout_in_seconds=scenes.LIMIT, max_retries=0),
    refused=lambda: embed(["a"] * 97),
)
