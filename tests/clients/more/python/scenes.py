"""What all of these programs do, so that each of them only says how its client asks.

Prompts have words at which the fake upstream fails (`tests/upstream/failures.py`). Nothing is printed that would differ in
a replay although the client does the same, such as the address of the server.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

COLOUR = "Name a colour."
WEATHER = "How is the weather in Oslo? PARALLEL"
STORY = "Tell a story. KEEPALIVE SLOW"
BUSY = "E429x1 Name a fish."
BROKEN = "E500x1 Name a bird."
COMPRESSED = "GZIP Name a tree."
CUT = "CUT-IN Tell a legend."
WRONG = "ERROR-INSIDE Tell a lie."
CUT_BETWEEN = "CUT-BETWEEN Tell a myth."
ODD = ("HANG-UP Name a cloud.", "CUT-IN Name a river.", "KEEPALIVE Name a lake.", "NO-TYPE Name a hill.")
ODD += ("WRONG-TYPE Name a dale.",)
"""An answer that does not come, one that is cut, one after blank lines, and two without the right content type."""
NEVER = "DELAY=1500 Name a stone."
LIMIT = 0.4
"""Seconds that a client waits for `NEVER`."""
KEY = os.environ.get("STUDY_KEY", "")
"""None is needed in a replay, but most clients refuse to be made without one."""


def at_once(ask: Callable[[str], str]) -> list[str]:
    """16 questions at the same time, four of them equal; equal ones may change places."""
    questions = [f"Question {number}" for number in range(12)] + ["Draw a card."] * 4
    with ThreadPoolExecutor(16) as threads:
        return sorted(f"{question} {answer}" for question, answer in zip(questions, threads.map(ask, questions)))


def parts(stream: Iterable[Any], shown: Callable[[Any], Any]) -> list[Any]:
    """All parts of a stream, also those before it breaks."""
    seen = []
    try:
        for part in stream:
            seen.append(shown(part))
    except Exception as error:
        seen.append(type(error).__name__)
    return seen


async def parts_async(stream: AsyncIterable[Any], shown: Callable[[Any], Any]) -> list[Any]:
    """The same of a stream that is read in an event loop."""
    seen = []
    try:
        async for part in stream:
            seen.append(shown(part))
    except Exception as error:
        seen.append(type(error).__name__)
    return seen


def in_loop(scene: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    """Plays an asynchronous scene in an event loop of its own."""
    return lambda *given: asyncio.run(scene(*given))


def play(ask: Callable[..., str], stream: Callable[[str], list[Any]], **more: Callable[[], Any]) -> None:
    """The scenes that all clients play, and those that this client plays besides."""
    show("plain", lambda: [ask(COLOUR) for _ in range(2)])
    show("stream", lambda: stream(STORY))
    show("cut stream", lambda: stream(CUT))
    show("cut between events", lambda: stream(CUT_BETWEEN))
    show("error in a stream", lambda: stream(WRONG))
    for question in ODD:
        show(question.split()[0], lambda: ask(question))
    show("at once", lambda: at_once(ask))
    show("busy", lambda: ask(BUSY))
    show("broken", lambda: ask(BROKEN))
    show("compressed", lambda: ask(COMPRESSED))
    for name, scene in more.items():
        show(name, scene)


def show(name: str, scene: Callable[[], Any]) -> None:
    """Prints what a scene returns, or how it failed: the class of the error and its status, if it has one."""
    try:
        said = scene()
    except Exception as error:
        status = getattr(error, "status_code", None)
        said = f"{type(error).__name__} {status if isinstance(status, int) else ''} {reason(error)}".strip()
    print(f"{name}: {said}", flush=True)


def reason(error: Exception) -> str:
    """The API's own words, without what a client puts around them."""
    body = getattr(error, "body", None)
    return str(body) if isinstance(body, dict) else ""
