"""Words in a prompt that make the server fail.

| word | what happens |
|---|---|
| `E429x2` | the first two requests with this text fail with this status; any status and count |
| `LATE=300` | the first request with this text is answered after so many milliseconds; `DELAY=300`: each one |
| `SLOW` | 20 ms between the events of a stream |
| `CUT-IN`, `CUT-BETWEEN` | the connection ends in the midst of an event, or between two; a whole answer ends half-way |
| `KEEPALIVE` | comments between the events of a stream; blank lines before a whole answer |
| `ERROR-INSIDE` | a stream has an error instead of its second half |
| `NO-TYPE`, `WRONG-TYPE` | no content type, or `text/plain` |
| `GZIP` | compressed, if the client accepts that |
| `HANG-UP` | the connection ends without an answer |

`CUT-IN`, `CUT-BETWEEN`, `ERROR-INSIDE` and `HANG-UP` happen to every other request with the same text, beginning with the
first, so that a client that tries again succeeds.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass

EVERY_OTHER = ("CUT-IN", "CUT-BETWEEN", "ERROR-INSIDE", "HANG-UP")
ALWAYS = ("SLOW", "KEEPALIVE", "NO-TYPE", "WRONG-TYPE", "GZIP")


@dataclass
class Plan:
    """What is to go wrong with one request."""

    status: int | None
    delay: float
    words: frozenset[str]


class Failures:
    """Counts the requests with each text."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], int] = {}
        self.lock = threading.Lock()

    def count(self, word: str, text: str) -> int:
        with self.lock:
            self.counts[word, text] = count = self.counts.get((word, text), 0) + 1
            return count

    def plan(self, path: str, text: str) -> Plan:
        asked = f"{path} {text}"
        status = None
        for word, code, times in re.findall(r"\b(E(\d{3})x(\d+))\b", text):
            if (self.count(word, asked) - 1) % (int(times) + 1) < int(times):
                status = status or int(code)
        delay = sum(int(milliseconds) for milliseconds in re.findall(r"\bDELAY=(\d+)", text))
        for milliseconds in re.findall(r"\bLATE=(\d+)", text):
            delay += int(milliseconds) if self.count("LATE", asked) == 1 else 0
        words = {word for word in ALWAYS if re.search(rf"\b{word}\b", text)}
        words |= {word for word in EVERY_OTHER if re.search(rf"\b{word}\b", text) and self.count(word, asked) % 2}
        return Plan(status, delay / 1000, frozenset(words))
