"""A model that calls three tools and then says what they gave, and an agent of each framework that has them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

#: Each run of a tool, by its name.
RUNS: list[str] = []

#: The weather, which a test changes.
WEATHER = {"Oslo": "rain"}

#: What the model calls.
CALLS = [("weather", {"city": "Oslo"}), ("add", {"a": 2, "b": 3}), ("book", {"city": "Nowhere"})]

QUESTION = "How is it in Oslo?"


def weather(city: str) -> dict[str, Any]:
    """Tells the weather of a city."""
    RUNS.append("weather")
    return {"city": city, "sky": WEATHER[city]}


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    RUNS.append("add")
    return a + b


async def book(city: str) -> str:
    """Books a flight to a city."""
    RUNS.append("book")
    if city == "Nowhere":
        raise ValueError(f"no flight to {city}")
    return "booked"


TOOLS: list[Callable[..., Any]] = [weather, add, book]


class Calls(BaseHTTPRequestHandler):
    """Calls the tools, under ids that are made up anew each time; then repeats what they gave."""

    protocol_version = "HTTP/1.1"
    server: CallingModel

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        gave = [message["content"] for message in body["messages"] if message["role"] == "tool"]
        message: dict[str, Any] = {"role": "assistant", "content": f"I was told: {json.dumps(gave)}"}
        if not gave:
            functions = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in CALLS]
            calls = [{"id": f"call_{uuid.uuid4().hex}", "type": "function", "function": one} for one in functions]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "finish_reason": "stop" if gave else "tool_calls", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
        answer = {"id": f"chat-{uuid.uuid4().hex}", "object": "chat.completion", "created": 1, "model": "made-up"}
        out = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *_: Any) -> None:
        pass


class CallingModel(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Calls)
        self.asked: list[Any] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        Thread(target=self.serve_forever, daemon=True).start()


def by_openai_agents(url: str) -> str:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("made-up", AsyncOpenAI(base_url=url, api_key="k", max_retries=0))
    agent = Agent(name="a", model=model, tools=[function_tool(tool) for tool in TOOLS])
    return str(asyncio.run(Runner.run(agent, QUESTION)).final_output)


def by_pydantic_ai(url: str) -> str:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async def book_or_retry(city: str) -> str:
        """Books a flight to a city."""
        try:
            return await book(city)
        except ValueError as error:
            raise ModelRetry(str(error)) from error

    client = AsyncOpenAI(base_url=url, api_key="k", max_retries=0)
    model = OpenAIChatModel("made-up", provider=OpenAIProvider(openai_client=client))
    agent = Agent(model)
    for tool in TOOLS[:2]:
        agent.tool_plain(tool)
    agent.tool_plain(book_or_retry, name="book")
    return str(agent.run_sync(QUESTION).output)


def by_langgraph(url: str) -> str:
    from langchain_core.messages import AnyMessage
    from langchain_core.tools import StructuredTool
    from langchain_openai import ChatOpenAI
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    made = [StructuredTool.from_function(tool) for tool in TOOLS[:2]]
    made.append(StructuredTool.from_function(coroutine=book))
    model = ChatOpenAI(model="made-up", base_url=url, api_key="k", max_retries=0).bind_tools(made)  # type: ignore[arg-type]

    async def ask(state: MessagesState) -> dict[str, list[AnyMessage]]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tools", ToolNode(made, handle_tool_errors=True))
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition)
    graph.add_edge("tools", "ask")
    said = asyncio.run(graph.compile().ainvoke({"messages": [("user", QUESTION)]}))
    return str(said["messages"][-1].content)


FRAMEWORKS = {"openai-agents": by_openai_agents, "pydantic-ai": by_pydantic_ai, "langgraph": by_langgraph}

if __name__ == "__main__":
    print(FRAMEWORKS[sys.argv[1]](os.environ["OPENAI_BASE_URL"]))
    print(",".join(RUNS), file=sys.stderr)
