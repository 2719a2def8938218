"""A plugin for pytest that changes what the tests of suite.py ask, in the SDKs: `CHANGE=prompt pytest -p changes`.

- `prompt`: the last message of the first request has two more words
- `parameter`: the temperature of the first request is another one (of embeddings, the number of dimensions)
- `swap`: the first request is sent as the second, and the second as the first
- `drop`: the test ends before its last request
- `more`: after its last request, the test asks once more, with another question

`CHANGED` names the tests that are changed, by default all. What each test asked and was answered is written as JSON to
`CHANGES_FILE`, without which `swap` and `drop` do not know what to do: `CHANGES_BEFORE` is that of an unchanged run.
"""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import httpx
import pytest

CHANGE = os.environ.get("CHANGE", "")
CHANGED = os.environ.get("CHANGED", "").split()
BEFORE = json.load(open(os.environ["CHANGES_BEFORE"])) if "CHANGES_BEFORE" in os.environ else {}


class Ended(Exception):
    """A test that asks no more."""


class Test:
    def __init__(self, name: str) -> None:
        self.name, self.asked, self.answers = name, [], {}
        self.before: list[Any] = BEFORE.get(name, {}).get("asked", [])
        self.change = CHANGE if not CHANGED or name in CHANGED else ""

    def changed(self, body: dict[str, Any]) -> dict[str, Any]:
        number = len(self.asked)
        body = copy.deepcopy(body)
        if self.change == "drop" and number == len(self.before) - 1:
            raise Ended()
        if self.change == "swap" and number < 2 and can_be_swapped(self.before):
            body = copy.deepcopy(self.before[1 - number])
        if self.change == "prompt" and number == 0:
            add(body, " Be brief.")
        if self.change == "parameter" and number == 0:
            body.update({"dimensions": 7} if "embedding" in body["model"] else {"temperature": 0.123})
        return body


def can_be_swapped(asked: list[Any]) -> bool:
    return len(asked) > 1 and asked[0] != asked[1]


def add(body: dict[str, Any], words: str) -> None:
    """Adds words to the last text that a request has."""
    place: Any = body
    key: Any = next(name for name in ("messages", "input", "prompt") if name in body)
    while not isinstance(place[key], str):
        place = place[key]
        key = len(place) - 1 if isinstance(place, list) else "content" if "content" in place else "text"
    place[key] += words


current: Test | None = None
tests: dict[str, Any] = {}


def patch(base: Any) -> None:
    build = base.BaseClient._build_request

    def build_changed(self: Any, options: Any, **more: Any) -> Any:
        if current is not None and isinstance(options.json_data, dict):
            body = current.changed(options.json_data)
            options.json_data = body
            current.asked.append(body)
        request = build(self, options, **more)
        if current is not None:
            current.request = request
        return request

    base.BaseClient._build_request = build_changed
    process = base.SyncAPIClient._process_response

    def process_noted(self: Any, *, response: Any, **more: Any) -> Any:
        if current is not None and "json" in response.headers.get("content-type", ""):
            # By the number of the request.
            current.answers[len(current.asked) - 1] = json.loads(response.read())
        return process(self, response=response, **more)

    base.SyncAPIClient._process_response = process_noted


def pytest_configure() -> None:
    import anthropic._base_client
    import openai._base_client

    patch(openai._base_client)
    patch(anthropic._base_client)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    global current
    current = test = Test(pyfuncitem.name)
    try:
        try:
            result = yield
        except Ended:
            result = True
        if test.change == "more":
            body = copy.deepcopy(test.asked[-1])
            add(body, " And what else?")
            kept = {name: value for name, value in test.request.headers.items() if name != "content-length"}
            httpx.post(str(test.request.url), headers=kept, content=json.dumps(body))
        return result
    finally:
        current = None
        tests[test.name] = {"asked": test.asked, "answers": test.answers}


def pytest_sessionfinish() -> None:
    if "CHANGES_FILE" in os.environ:
        with open(os.environ["CHANGES_FILE"], "w") as file:
            json.dump(tests, file)
