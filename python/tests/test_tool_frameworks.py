"""Agents of frameworks, unmodified: their tools are recorded, and no replay runs them."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import calling
import pytest

import retold
from retold._program import program

# One of them wants another release of `openai` than the other tests have.
pytest.importorskip("agents", reason="the frameworks of frameworks.txt are installed elsewhere")


@pytest.fixture
def calling_model() -> Iterator[calling.CallingModel]:
    server = calling.CallingModel()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def runs(monkeypatch) -> list[str]:
    calling.RUNS.clear()
    monkeypatch.setitem(calling.WEATHER, "Oslo", "rain")
    return calling.RUNS


@pytest.fixture(params=calling.FRAMEWORKS)
def agent(request) -> Any:
    return calling.FRAMEWORKS[request.param]


def test_tools_of_a_framework_do_not_run_in_a_replay(log, calling_model, agent, runs):
    with retold.record(log) as run:
        said = agent(calling_model.url)
    assert run.summary["tools"] == {"recorded": 3, "failed": 1, "replayed": 0}
    assert run.summary["requests"] == 2 and sorted(runs) == ["add", "book", "weather"]
    assert "rain" in said and "5" in said and "no flight to Nowhere" in said
    calling_model.shutdown()
    calling_model.server_close()
    runs.clear()
    for _ in range(2):
        with retold.replay(log) as run:
            assert agent(calling_model.url) == said
        assert run.summary["tools"]["replayed"] == 3 and runs == []


def test_a_decision_is_traced_through_results_to_the_answer_that_asked_for_them(log, calling_model, agent, tmp_path):
    with retold.record(log) as run, run.call("trip", participant="p_07"):
        said = agent(calling_model.url)
        run.decide("rain", "rain" in said)

    def shown(*words: str) -> str:
        done = subprocess.run([program(), "--log", log, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    story = shown("show", "latest", "p_07")
    parts = ["How is it in Oslo?", "calls weather", "weather {", "result:", "error: ", "I was told", "decided: rain = true"]
    assert all(part in story for part in parts)
    traced = shown("audit", "latest", "trip/p_07#4", "--proof", str(tmp_path / "proof.json"))
    assert "declared: the prompt was made from" in traced and "trip/p_07#0  answer seq 3" in traced
    shown("verify", "proof", str(tmp_path / "proof.json"))


def test_a_result_that_changed_in_a_fork_is_the_first_difference(log, calling_model, agent, runs):
    with retold.record(log) as first:
        agent(calling_model.url)
    runs.clear()
    calling.WEATHER["Oslo"] = "snow"
    with retold.fork(log, live_tools=["weather"]) as run:
        said = agent(calling_model.url)
    # The model is asked again, about the new weather alone.
    assert "snow" in said and runs == ["weather"] and run.summary["recorded"] == 1
    told = subprocess.run([program(), "--log", log, "diff", first.id, "latest"], capture_output=True, text=True)
    assert told.returncode == 1, told.stderr
    assert "has the same prompt and another answer" in told.stdout and '+{"city":"Oslo","sky":"snow"}' in told.stdout
    with retold.replay(log):
        assert agent(calling_model.url) == said
    assert runs == ["weather"]


@pytest.mark.parametrize("name", calling.FRAMEWORKS)
def test_a_program_of_a_framework_is_recorded_by_the_command_line_unchanged(log, calling_model, name):
    command = ["--", sys.executable, calling.__file__, name]
    environment = {**os.environ, "OPENAI_BASE_URL": calling_model.url}

    def ended(*words: str) -> tuple[str, str]:
        done = subprocess.run(
            [program(), "--log", log, *words, *command], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    said, told = ended("record")
    assert "rain" in said and "3 tool calls (1 failed)" in told and "weather" in told
    calling_model.shutdown()
    calling_model.server_close()
    again, told = ended("replay", "latest")
    assert again == said and "3 tool calls" in told
    assert not any(tool in told for tool in ("weather", "book", "add,"))


SERVER = """
import sys
sys.path.insert(0, {tests!r})
import calling
from mcp.server.mcpserver import MCPServer

server = MCPServer("made-up")

@server.tool()
def weather(city: str) -> str:
    with open(sys.argv[2], "a") as runs:
        runs.write("weather ")
    return "rain"

server.tool()(calling.add)
server.tool()(calling.book)
server.run("streamable-http", port=int(sys.argv[1]))
"""

PROGRAM = """
import asyncio, sys
from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI

async def main():
    async with MCPServerStreamableHttp(params={"url": sys.argv[1]}, client_session_timeout_seconds=30) as server:
        model = OpenAIChatCompletionsModel("made-up", AsyncOpenAI(api_key="k", max_retries=0))
        return (await Runner.run(Agent(name="a", model=model, mcp_servers=[server]), "How is it?")).final_output

set_tracing_disabled(True)
print(asyncio.run(main()))
"""


def test_a_tool_on_a_server_that_is_not_seen_does_not_run_in_a_replay(log, calling_model, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    runs = tmp_path / "runs.txt"
    (tmp_path / "server.py").write_text(SERVER.format(tests=os.path.dirname(os.path.abspath(calling.__file__))))
    (tmp_path / "agent.py").write_text(PROGRAM)
    environment = {**os.environ, "OPENAI_BASE_URL": calling_model.url}

    def ended(*words: str) -> str:
        command = ["--", sys.executable, str(tmp_path / "agent.py"), f"http://127.0.0.1:{port}/mcp"]
        done = subprocess.run([program(), "--log", log, *words, *command], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    words = [sys.executable, str(tmp_path / "server.py"), str(port), str(runs)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(400):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            said = ended("record")
            assert "rain" in said and runs.read_text() == "weather "
            # Its tools are listed again.
            assert ended("replay", "latest") == said and runs.read_text() == "weather "
        finally:
            server.kill()


SUITE = """
import os, sys

sys.path.insert(0, {tests!r})
import calling
import pytest

@pytest.mark.retold
@pytest.mark.parametrize("name", calling.FRAMEWORKS)
def test_agent(name):
    calling.RUNS.clear()
    assert "rain" in calling.FRAMEWORKS[name]({url!r})
    assert sorted(calling.RUNS) == (["add", "book", "weather"] if os.environ.get("RECORDS") else [])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock is of Linux")
def test_agents_are_tested_offline_and_sealed(pytester, calling_model, monkeypatch):
    tests = os.path.dirname(os.path.abspath(calling.__file__))
    pytester.makepyfile(SUITE.format(tests=tests, url=calling_model.url))
    monkeypatch.setenv("RECORDS", "1")
    pytester.runpytest_subprocess("--retold=once").assert_outcomes(passed=3)
    monkeypatch.delenv("RECORDS")
    calling_model.shutdown()
    calling_model.server_close()
    result = pytester.runpytest_subprocess("--retold-sealed")
    if "needs Landlock" in str(result.stderr):
        result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=3)
