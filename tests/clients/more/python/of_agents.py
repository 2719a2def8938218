"""OpenAI's agents, by chat completions and by responses."""

import os

import agents
import openai
import scenes
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner

agents.set_tracing_disabled(True)


@agents.function_tool(strict_mode=False)
def weather(place: str) -> str:
    """The weather."""
    return f"fine in {place}"


def play(kind: type) -> None:
    def agent(retries: int = 4, limit: float = 60, **more) -> Agent:
        # A client of its own for each scene: each has its own event loop.
        address, key = os.environ["OPENAI_BASE_URL"], scenes.KEY or "none"
        client = openai.AsyncOpenAI(base_url=address, api_key=key, max_retries=retries, timeout=limit)
        return Agent(name="A", instructions="Be short.", model=kind(model="m", openai_client=client), **more)

    def ask(question: str, **more) -> str:
        return scenes.in_loop(lambda: Runner.run(agent(**more), question))().final_output

    async def stream(question: str) -> list:
        return await scenes.parts_async(Runner.run_streamed(agent(), question).stream_events(), shown)

    scenes.play(
        ask,
        scenes.in_loop(stream),
        tools=lambda: ask(scenes.WEATHER, tools=[weather]),
        timeout=lambda: ask(scenes.NEVER, retries=0, limit=scenes.LIMIT),
        refused=lambda: ask(scenes.COLOUR, model_settings=ModelSettings(temperature=3.0)),
    )


def shown(event) -> str:
    return getattr(event.data, "delta", event.data.type) if event.type == "raw_response_event" else event.type


play(OpenAIChatCompletionsModel)
play(OpenAIResponsesModel)
