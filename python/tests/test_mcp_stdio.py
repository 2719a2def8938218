"""MCP with a server that is started as a process, by the SDK for Python: a client replays without the server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

import retold
from retold._program import program

SERVER = """
import asyncio, itertools, os, sys
from mcp.server.mcpserver import MCPServer

with open(sys.argv[1], "a") as started:
    started.write("started\\n")
server, numbers = MCPServer("made-up"), itertools.count()

@server.tool()
async def draw(what: str) -> str:
    with open(sys.argv[1], "a") as runs:
        runs.write(f"draw {what}\\n")
    if what == "bad":
        raise ValueError("no such thing")
    if what == "slow":
        await asyncio.sleep(60)
    if what == "crash":
        os._exit(3)
    return f"{what} {next(numbers)}"

server.run("stdio")
"""

STUDY = """
import asyncio, os, sys
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

async def study(words, drawn):
    ours = {name: os.environ[name] for name in ("RETOLD_URL", "PYTHONPATH") if name in os.environ}
    parameters = StdioServerParameters(command=sys.executable, args=words, env=ours)
    async with Client(stdio_client(parameters)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        said = [(await client.call_tool("draw", {"what": what})).content[0].text for what in drawn]
        at_once = await asyncio.gather(*(client.call_tool("draw", {"what": f"c{n}"}) for n in range(5)))
        return names, said, len({one.content[0].text for one in at_once})

if __name__ == "__main__":
    print(asyncio.run(study(sys.argv[1:], ["a", "bad"])))
"""


@pytest.fixture
def server(tmp_path) -> str:
    code = tmp_path / "server.py"
    code.write_text(SERVER)
    return str(code)


@pytest.fixture
def runs(tmp_path) -> Path:
    return tmp_path / "runs.txt"


def study(*given: Any) -> Any:
    space: dict[str, Any] = {"__name__": "study"}
    exec(STUDY, space)
    return asyncio.run(space["study"](*given))


def test_a_server_is_not_started_in_a_replay(log, server, runs):
    drawn = ["a", "a", "bad"]
    with retold.record(log):
        names, said, apart = study([server, str(runs)], drawn)
    assert names == ["draw"] and said[:2] == ["a 0", "a 1"] and "Error executing" in said[2] and apart == 5
    assert runs.read_text().splitlines()[:3] == ["started", "draw a", "draw a"]
    runs.unlink()
    for _ in range(2):
        with retold.replay(log):
            assert study([server, str(runs)], drawn) == (names, said, apart)
    assert not runs.exists()


def test_a_call_that_is_not_recorded_is_refused_in_a_replay_and_asked_in_a_fork(log, server, runs):
    with retold.record(log):
        study([server, str(runs)], ["a"])
    runs.unlink()
    with pytest.raises(retold.ReplayMismatch, match="arguments.what") as refused, retold.replay(log):
        with pytest.raises(BaseException, match="draw"):
            study([server, str(runs)], ["b"])
    assert refused.value.summary["not_recorded"] == 1 and not runs.exists()
    with retold.fork(log) as run:
        assert study([server, str(runs)], ["a", "b"])[1] == ["a 0", "b 0"]
    # The server was started for the one call that is new, after the handshake that it needs.
    assert runs.read_text().splitlines() == ["started", "draw b"]
    assert run.summary["tools"]["recorded"] == 1


async def failing(words: list[str]) -> list[str]:
    """What a client sees whose patience ends, and then its server."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    said = []
    async with Client(stdio_client(StdioServerParameters(command=words[0], args=words[1:]))) as client:
        for what, patience in (("slow", 1), ("a", 30), ("crash", 30), ("b", 30)):
            try:
                answer = await asyncio.wait_for(client.call_tool("draw", {"what": what}), patience)
                said.append(answer.content[0].text)  # type: ignore[union-attr]
            except Exception as error:
                said.append(str(error) or type(error).__name__)
    return said


def test_a_call_that_is_given_up_and_a_server_that_ends_are_as_they_were(log, server, runs):
    words = [sys.executable, server, str(runs)]
    with retold.record(log):
        said = asyncio.run(failing(words))
    ended = f"the MCP server {Path(sys.executable).name} server.py has ended"
    assert said == ["TimeoutError", "a 0", ended, ended]
    runs.unlink()
    with retold.replay(log):
        assert asyncio.run(failing(words)) == said
    assert not runs.exists()


def test_a_server_that_cannot_be_started_is_named(log):
    with retold.record(log), pytest.raises(BaseException) as error:
        asyncio.run(failing(["no-such-program"]))
    said = "".join(traceback.format_exception(error.value))
    assert "the MCP server no-such-program cannot be started: No such file" in said


def test_the_program_between_ends_with_its_client(server, runs):
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "draw", "arguments": {"what": "slow"}}},
    ]
    lines[0]["params"]["clientInfo"] = {"name": "c", "version": "1"}  # type: ignore[index]
    words = [sys.executable, "-m", "retold.mcp", "--", sys.executable, server, str(runs)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as between:
        assert between.stdin is not None
        for line in lines:
            between.stdin.write(json.dumps(line).encode() + b"\n")
            between.stdin.flush()
        for _ in range(400):
            if runs.exists() and "draw slow" in runs.read_text():
                break
            time.sleep(0.05)
        given_up = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        between.stdin.write(json.dumps(given_up).encode() + b"\n")
        between.stdin.close()
        between.wait(30)


def test_a_program_of_any_language_writes_our_command_before_that_of_its_server(log, tmp_path, server, runs):
    code = tmp_path / "study.py"
    code.write_text(STUDY)
    between = ["-m", "retold.mcp", "--", sys.executable]
    command = ["--", sys.executable, str(code), *between, server, str(runs)]
    environment = {**os.environ, "PYTHONPATH": str(Path(retold.__file__).parents[1])}

    def ended(*words: str) -> str:
        done = subprocess.run([program(), "--log", log, *words, *command], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = ended("record")
    assert "a 0" in said
    runs.unlink()
    assert ended("replay", "latest") == said and not runs.exists()
    stats = subprocess.run([program(), "--log", log, "stats", "latest", "--json"], capture_output=True, text=True)
    assert json.loads(stats.stdout)["tools"]["draw"]["answered"] == 7


def test_lines_that_are_no_messages_and_a_missing_command(server):
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "retold.mcp", *words], input="", capture_output=True, text=True)

    assert run().returncode == 2 and "python -m retold.mcp -- COMMAND" in run().stderr
