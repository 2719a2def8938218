"""Agents of frameworks, unmodified: their tools are recorded, and no replay runs them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import calling
import pytest

import retold
from retold._program import program


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
    with retold.replay(log):
        assert agent(calling_model.url) == said
    assert runs == ["weather"]
