"""Asks a model with the standard library alone; also as a program: `asking.py URL [TEXT]`."""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
SENT = json.dumps(BODY).encode()
HEADERS = {"Content-Type": "application/json"}


def read(answer: bytes) -> str:
    """The text of an answer."""
    text: str = json.loads(answer)["choices"][0]["message"]["content"]
    return text


def ask(url: str, text: str = "hello") -> str:
    """The text that a model answers."""
    body: dict[str, Any] = {**BODY, "messages": [{"role": "user", "content": text}]}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), HEADERS)) as answer:
        return read(answer.read())


if __name__ == "__main__":
    print(ask(*sys.argv[1:]))
