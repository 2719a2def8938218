"""Frameworks for agents: litellm, Pydantic AI, OpenAI's agents, instructor, LlamaIndex."""

import asyncio
import os
import warnings

warnings.simplefilter("ignore")
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # litellm otherwise fetches a list of prices when it is imported

import agents
import instructor
import litellm
import openai
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai import OpenAI
from pydantic import BaseModel
from pydantic_ai import Agent

BASE = os.environ["OPENAI_BASE_URL"]
QUESTION = [{"role": "user", "content": "Name a colour."}]


class Colour(BaseModel):
    """A colour."""

    answer: str
    number: int


class Weather(BaseModel):
    """The weather."""

    topic: str


def of_litellm() -> None:
    settings = {"model": "openai/m", "messages": QUESTION, "api_base": BASE, "num_retries": 5}
    for _ in range(3):
        print(litellm.completion(**settings).choices[0].message.content)
    for chunk in litellm.completion(stream=True, **settings):
        print(chunk.choices[0].delta.content)

    async def together() -> None:
        print((await litellm.acompletion(**settings)).choices[0].message.content)
        print([chunk.choices[0].delta.content async for chunk in await litellm.acompletion(stream=True, **settings)])

    asyncio.run(together())


def of_pydantic_ai() -> None:
    agent = Agent("openai-chat:m", instructions="Be short.")

    @agent.tool_plain
    def weather(topic: str, id: int) -> str:
        """The weather."""
        return f"fine in {topic}"

    for _ in range(2):
        result = agent.run_sync("How is the weather?")
        print(result.output, result.usage)

    async def streamed() -> None:
        async with Agent("openai-chat:m").run_stream("Tell a story.") as stream:
            print([text async for text in stream.stream_text(delta=True, debounce_by=None)])

    asyncio.run(streamed())


def of_agents() -> None:
    agents.set_tracing_disabled(True)

    @agents.function_tool(strict_mode=False)
    def weather(topic: str, id: int) -> str:
        """The weather."""
        return f"fine in {topic}"

    agents.set_default_openai_api("chat_completions")
    agent = agents.Agent(name="A", instructions="Be short.", model="m", tools=[weather])
    for _ in range(2):
        print(agents.Runner.run_sync(agent, "How is the weather here?").final_output)
    agents.set_default_openai_api("responses")
    print(agents.Runner.run_sync(agents.Agent(name="B", model="m"), "Name a colour.").final_output)


def of_instructor() -> None:
    client = instructor.from_openai(openai.OpenAI(max_retries=5))
    print(client.chat.completions.create(model="m", messages=QUESTION, response_model=Weather))
    client = instructor.from_openai(openai.OpenAI(max_retries=5), mode=instructor.Mode.JSON_SCHEMA)
    print(client.chat.completions.create(model="m", messages=QUESTION, response_model=Colour))


def of_llama_index() -> None:
    model = OpenAI(model="gpt-4o-mini", api_base=BASE, max_retries=5)
    print(model.chat([ChatMessage(role="user", content="Name a colour.")]))
    print([chunk.delta for chunk in model.stream_chat([ChatMessage(role="user", content="Name a colour.")])])
    print(asyncio.run(model.acomplete("Name a colour.")))


of_litellm()
of_pydantic_ai()
of_agents()
of_instructor()
of_llama_index()
