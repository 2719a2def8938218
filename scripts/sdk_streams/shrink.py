"""Makes a stream that is read differently as short as it can be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import judge
import recorded
from blocks import Stream


def shrunk(program: str, dialect: Any, stream: Stream) -> Stream:
    """The stream without the events that make no difference."""
    while True:
        # A list begins with its first item.
        shorter = [without(stream, at) for at in range("list" in stream.odd, len(stream.blocks))]
        readings = recorded.record(program, dialect, shorter)
        verdicts = [judge.judged(dialect, each, readings.get(number))[0] for number, each in enumerate(shorter)]
        if judge.DIFFERENT not in verdicts:
            return stream
        stream = shorter[verdicts.index(judge.DIFFERENT)]


def without(stream: Stream, at: int) -> Stream:
    """The stream without an event, cut off at the same byte of the others."""
    before = len(stream.before) + sum(len(block.sent) for block in stream.blocks[:at])
    gone = min(max(stream.end - before, 0), len(stream.blocks[at].sent))
    return replace(stream, blocks=stream.blocks[:at] + stream.blocks[at + 1 :], end=stream.end - gone)
