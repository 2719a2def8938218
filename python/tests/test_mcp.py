"""MCP over HTTP with the SDK for Python: both directions are recorded, and a client replays without its server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

import retold
from retold._program import program

SERVER = """
import itertools, sys
from mcp.server.mcpserver import Context, MCPServer

server, numbers = MCPServer("made-up"), itertools.count()

@server.tool()
async def draw(what: str, context: Context) -> str:
    await context.session.send_tool_list_changed()
    return f"{what} {next(numbers)}"

server.run("streamable-http", port=int(sys.argv[1]))
"""

STUDY = """
import asyncio, os, sys, time
from mcp import Client

async def study(url, mode, heard=None):
    heard = []

    async def hear(message):
        heard.append(type(message).__name__)

    async with Client(url, mode=mode, message_handler=hear) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        said = [(await client.call_tool("draw", {"what": what})).content[0].text for what in ("a", "a", "b")]
        # What the server says by itself has its own way.
        for _ in range(100):
            if mode != "legacy" or len(heard) == 3:
                break
            await asyncio.sleep(0.05)
        return names, said, heard

if __name__ == "__main__":
    print(asyncio.run(study(os.environ["MCP_BASE_URL"] + "/mcp", sys.argv[1])))
    print(time.time(), file=sys.stderr)
"""

#: Era of the protocol: with a handshake and a session, and with neither.
MODES = ["legacy", "auto"]


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.fixture
def server(tmp_path, port) -> Iterator[subprocess.Popen[bytes]]:
    code = tmp_path / "server.py"
    code.write_text(SERVER)
    with subprocess.Popen([sys.executable, str(code), str(port)], stderr=subprocess.DEVNULL) as process:
        for _ in range(400):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield process
        process.kill()


def study(tmp_path):
    space: dict = {"__name__": "study"}
    exec(STUDY, space)
    return space["study"]


@pytest.mark.parametrize("mode", MODES)
def test_a_client_is_recorded_and_replayed_in_a_block(tmp_path, log, port, server, mode):
    run, url = study(tmp_path), f"http://127.0.0.1:{port}/mcp"
    with retold.record(log, hosts=[f"127.0.0.1:{port}"]):
        names, said, heard = asyncio.run(run(url, mode))
        ended = time.monotonic()
    assert time.monotonic() - ended < 10
    assert names == ["draw"] and said == ["a 0", "a 1", "b 2"]
    assert mode != "legacy" or heard == ["ToolListChangedNotification"] * 3
    server.kill()
    for _ in range(2):
        with retold.replay(log, hosts=[f"127.0.0.1:{port}"]):
            assert asyncio.run(run(url, mode)) == (names, said, heard)


def test_a_server_is_recorded_whose_host_is_not_named(tmp_path, log, port, server):
    run, url = study(tmp_path), f"http://127.0.0.1:{port}/mcp"
    with retold.record(log) as recorded:
        given = asyncio.run(run(url, "auto"))
    assert recorded.summary["tools"]["recorded"] == 3
    server.kill()
    with retold.replay(log):
        assert asyncio.run(run(url, "auto")) == given


@pytest.mark.parametrize("mode", MODES)
def test_a_client_is_recorded_and_replayed_by_the_command_line_and_as_a_cassette(tmp_path, log, port, server, mode):
    (tmp_path / "study.py").write_text(STUDY)
    command = ["--", sys.executable, str(tmp_path / "study.py"), mode]

    def ended(*words: str) -> str:
        done = subprocess.run([program(), "--log", log, *words, *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        # Nothing waits for the stream to which nobody listens any more.
        assert time.time() - float(done.stderr.split()[0]) < 15
        return done.stdout

    said = ended("record", "--upstream", f"mcp=http://127.0.0.1:{port}")
    server.kill()
    assert ended("replay", "latest") == said
    cassette = tmp_path / "mcp.yaml"
    subprocess.run([program(), "--log", log, "export", "latest", str(cassette), "--as", "cassette"], check=True)
    assert ended("replay", str(cassette)) == said


def test_the_stream_of_a_client_that_outlives_its_block_is_cut(log, port, server):
    from mcp import Client

    async def asked() -> float:
        async with contextlib.AsyncExitStack() as stack:
            async with retold.record(log, hosts=[f"127.0.0.1:{port}"]):
                client = await stack.enter_async_context(Client(f"http://127.0.0.1:{port}/mcp", mode="legacy"))
                await client.call_tool("draw", {"what": "a"})
                ended = time.monotonic()
            return time.monotonic() - ended

    assert asyncio.run(asked()) < 10


def test_the_id_of_a_session_is_not_stored(log, port, server):
    from mcp import Client

    async def asked() -> None:
        async with Client(f"http://127.0.0.1:{port}/mcp", mode="legacy") as client:
            await client.list_tools()

    ids: list[str] = []
    import httpx2

    send = httpx2.AsyncClient.send

    async def noted(self, *args, **kwargs):
        answer = await send(self, *args, **kwargs)
        ids.extend(filter(None, [answer.headers.get("mcp-session-id")]))
        return answer

    httpx2.AsyncClient.send = noted
    try:
        with retold.record(log, hosts=[f"127.0.0.1:{port}"]):
            asyncio.run(asked())
    finally:
        httpx2.AsyncClient.send = send
    shown = subprocess.run([program(), "--log", log, "export", "latest", "-"], capture_output=True, text=True).stdout
    assert ids and "mcp-session-id" in shown and not any(session in shown for session in ids)
    assert os.path.exists(log)
