"""LlamaIndex, with its model of OpenAI."""

import os

import scenes
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI

SETTINGS = {"model": "gpt-4o-mini", "api_base": os.environ["OPENAI_BASE_URL"], "api_key": scenes.KEY or "none"}
model = OpenAI(max_retries=4, **SETTINGS)


def messages(question: str) -> list[ChatMessage]:
    return [ChatMessage(role="user", content=question)]


def ask(question: str, **more) -> str:
    return str(model.chat(messages(question), **more))


def weather(place: str) -> str:
    """The weather."""
    return f"fine in {place}"


def tools() -> str:
    tool = FunctionTool.from_defaults(fn=weather)
    return str(model.predict_and_call([tool], user_msg=scenes.WEATHER, allow_parallel_tool_calls=True))


async def at_once() -> list[str]:
    answers = [await model.acomplete(scenes.COLOUR), await model.achat(messages(scenes.COLOUR))]
    return [str(answer) for answer in answers]


scenes.play(
    ask,
    lambda question: scenes.parts(model.stream_chat(messages(question)), lambda part: part.delta),
    tools=tools,
    asynchronous=scenes.in_loop(at_once),
    timeout=lambda: str(OpenAI(max_retries=0, timeout=scenes.LIMIT, **SETTINGS).chat(messages(scenes.NEVER))),
    refused=lambda: ask(scenes.COLOUR, temperature=3.0),
)
