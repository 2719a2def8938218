"""Time-outs and cuts that a test expects are in its cassette, as they are in a log."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

SUITE = """
import time
import openai, pytest

client = openai.OpenAI(base_url={url!r}, api_key="x", max_retries=0)

def ask(text, **options):
    return client.chat.completions.create(model="m", messages=[{{"role": "user", "content": text}}], **options)

@pytest.mark.retold
def test_a_client_that_left():
    begun = time.monotonic()
    with pytest.raises(openai.APITimeoutError):
        ask("sleep", timeout=0.5)
    assert 0.4 < time.monotonic() - begun < 3
"""

BROKEN = """
import openai, pytest

client = openai.OpenAI(base_url={url!r}, api_key="x", max_retries=0)

def ask(text, **options):
    return client.chat.completions.create(model="m", messages=[{{"role": "user", "content": text}}], **options)

@pytest.mark.retold
def test_a_stream_that_broke_off():
    said = ""
    with pytest.raises(openai.APIConnectionError):
        for event in ask("stream", stream=True):
            said += event.choices[0].delta.content
    assert said == "one two"

@pytest.mark.retold
def test_a_connection_that_was_dropped():
    with pytest.raises(openai.APIStatusError) as error:
        ask("drop")
    assert error.value.status_code == 502

@pytest.mark.retold
def test_that_tries_again():
    for _ in range(2):
        with pytest.raises(openai.APIStatusError):
            ask("drop")
"""

EVENT = 'data: {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n'


@pytest.fixture
def breaking() -> Iterator[str]:
    """A server that breaks off whatever it is asked for."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                asked = b""
                while b"}]" not in asked:
                    asked += connection.recv(65536)
                if b'"stream":true' not in asked.replace(b" ", b""):
                    continue
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
                for word in ("one", " two"):
                    event = (EVENT % word).encode()
                    connection.sendall(b"%x\r\n%s\r\n" % (len(event), event))

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    server.close()


def test_a_client_that_left_is_waited_for_again(pytester, model):
    pytester.makepyfile(test_it=SUITE.format(url=f"{model.url}/v1"))
    pytester.runpytest_subprocess("--retold=once").assert_outcomes(passed=1)
    (cassette,) = pytester.path.glob("cassettes/**/*.yaml")
    assert "client_left:\n      after_ms: " in cassette.read_text()
    model.stop()
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_what_broke_off_breaks_off_at_the_same_byte(pytester, breaking):
    pytester.makepyfile(test_it=BROKEN.format(url=breaking))
    pytester.runpytest_subprocess("--retold=once").assert_outcomes(passed=3)
    said = {file.stem: file.read_text() for file in pytester.path.glob("cassettes/**/*.yaml")}
    assert "end: broken_off" in said["test_a_stream_that_broke_off"]
    pytester.runpytest_subprocess().assert_outcomes(passed=3)
    # Recorded again, they are the same.
    pytester.runpytest_subprocess("--retold=all").assert_outcomes(passed=3)
    assert said == {file.stem: file.read_text() for file in pytester.path.glob("cassettes/**/*.yaml")}
