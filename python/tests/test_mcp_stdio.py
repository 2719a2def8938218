"""MCP with a server that is started as a process, by the SDK for Python: a client replays without the server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import retold
from retold._program import program

SERVER = """
import itertools, os, sys
from mcp.server.mcpserver import MCPServer

with open(sys.argv[1], "a") as started:
    started.write("started\\n")
server, numbers = MCPServer("made-up"), itertools.count()

@server.tool()
def draw(what: str) -> str:
    with open(sys.argv[1], "a") as runs:
        runs.write(f"draw {what}\\n")
    if what == "bad":
        raise ValueError("no such thing")
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
