"""Pydantic AI, with models of OpenAI by chat completions and by responses."""

import os

import openai
import scenes
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider


class Colour(BaseModel):
    """A colour."""

    answer: str
    number: int


def play(kind: type) -> None:
    def model(retries: int = 4):
        # A client of its own for each scene: each has its own event loop.
        address = os.environ["OPENAI_BASE_URL"]
        client = openai.AsyncOpenAI(base_url=address, api_key=scenes.KEY or "none", max_retries=retries)
        return kind("gpt-4.1", provider=OpenAIProvider(openai_client=client))

    def ask(question: str, retries: int = 4, **settings) -> str:
        return Agent(model(retries)).run_sync(question, model_settings=settings).output

    async def stream(question: str) -> list:
        async with Agent(model()).run_stream(question) as said:
            return await scenes.parts_async(said.stream_text(delta=True, debounce_by=None), str)

    def tools() -> list:
        agent = Agent(model(), instructions="Be short.", output_type=Colour)

        @agent.tool_plain
        def weather(place: str) -> str:
            """The weather."""
            return f"fine in {place}"

        said = agent.run_sync(scenes.WEATHER)
        return [said.output, [message.kind for message in said.all_messages()]]

    scenes.play(
        ask,
        scenes.in_loop(stream),
        tools=tools,
        timeout=lambda: ask(scenes.NEVER, retries=0, timeout=scenes.LIMIT),
        refused=lambda: ask(scenes.COLOUR, temperature=3.0),
    )


play(OpenAIChatModel)
play(OpenAIResponsesModel)
