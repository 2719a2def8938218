"""`pytest --retold-sealed`: nothing that tests start reaches a server elsewhere, in whatever language it is."""

from __future__ import annotations

import sys

import pytest

SUITE = """
import socket, subprocess
import openai, pytest

client = openai.OpenAI(base_url={url!r}, api_key="x")

@pytest.mark.retold
def test_replay():
    client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "hi"}}])

def test_server_of_its_own():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()

@pytest.mark.sealed
@pytest.mark.parametrize("port", [80, 443, 8000])
def test_sealed(port):
    with pytest.raises(PermissionError):
        socket.create_connection(("127.0.0.1", port))
    done = subprocess.run(["bash", "-c", f"echo > /dev/tcp/127.0.0.1/{{port}}"], capture_output=True, text=True)
    assert "Permission denied" in done.stderr

@pytest.mark.sealed
def test_named_port():
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", 9))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock is of Linux")
def test_a_sealed_run_reaches_servers_of_its_own_alone(pytester, model):
    pytester.makepyfile(SUITE.format(url=f"{model.url}/v1"))
    pytester.makeini("[pytest]\nmarkers = sealed\nretold_sealed_ports = 9")
    pytester.runpytest_subprocess("--retold=once", "-m", "not sealed").assert_outcomes(passed=2, deselected=4)
    result = pytester.runpytest_subprocess("--retold-sealed")
    if "needs Landlock" in str(result.stderr):
        pytest.skip("this system has none")
    result.assert_outcomes(passed=6)
    pytester.runpytest_subprocess("--retold-sealed", "-n", "2").assert_outcomes(passed=6)


def test_what_cannot_be_sealed_is_not_begun(pytester, monkeypatch):
    result = pytester.runpytest_subprocess("--retold-sealed", "--retold=once")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--retold-sealed is for replays: a recording asks the model"])
    result = pytester.runpytest_subprocess("--retold-sealed", "-o", "retold_sealed_ports=http")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*retold_sealed_ports are numbers from 1 to 65535, not http"])
    monkeypatch.setattr(sys, "platform", "darwin")
    from retold import RetoldError
    from retold._seal import seal

    with pytest.raises(RetoldError, match="needs Linux: darwin has nothing"):
        seal()
