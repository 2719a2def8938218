"""Compares what an SDK and retold have read of a stream."""

from __future__ import annotations

from typing import Any

import sdk
from blocks import Stream
from reading import Reading

#: Where retold reads what the SDK skips without an error, for each API, with the reason why retold is right.
MARK = {"mark": "WHATWG HTML 9.2.6 removes a byte order mark; the SDKs skip the first line, which has it"}
KNOWN = {
    "chat": MARK,
    "responses": MARK,
    "messages": {**MARK, "no event names": "the SDK skips events without a name; their data has the type too"},
    "gemini": {**MARK, "data without space": "WHATWG HTML 9.2.6: the space is optional"},
}

#: What retold does not read yet, or reads differently. Remove an entry once retold reads it.
NOT_YET = {
    "custom tool call": "Responses: items of type custom_tool_call are not among the tool calls",
    "reasoning text": "Responses: the reasoning in `content` of a reasoning item (reasoning_text) is not read",
    "a list that was cut off": "Gemini: nothing is read of a list without its end",
    "a text without deltas": "Responses: of an unfinished item, only deltas are read, not `.done` events",
    "an error without a type": "Messages: the SDK goes by `event: error`, retold by the type in the data alone",
    "an error before the message": "Messages: `message_start` after an error event removes the error",
    "candidates in events of their own": "Gemini: the first candidate of an event is read whatever its index",
    "halves of pairs in two parts": "Gemini: halves of a surrogate pair are joined within a part only",
}
NOT_YET_READ = "less, of a kind that is not read yet"

EQUAL, MORE, DIFFERENT = "equal", "more, where the SDK raises", "DIFFERENT"
KNOWN_MORE, TORN_MORE = "more, of a known kind", "more, the last event without its empty line"


def judged(dialect: Any, stream: Stream, mine: Reading | None) -> tuple[str, Reading]:
    """How retold's reading is related to the SDK's, which is returned."""
    verdict, theirs = compared(dialect, stream, mine)
    if verdict == DIFFERENT and mine and stream.has & NOT_YET.keys():
        return NOT_YET_READ, theirs
    return verdict, theirs


def compared(dialect: Any, stream: Stream, mine: Reading | None) -> tuple[str, Reading]:
    if "list" in stream.odd:
        theirs = sdk.read(dialect, stream.plain(), stream.breaks)
    else:
        theirs = sdk.read(dialect, stream.sent(), stream.breaks)
    if mine is None:
        return DIFFERENT, theirs
    if mine.equals(theirs):
        return EQUAL, theirs
    known = stream.odd & KNOWN[dialect.__name__].keys()
    if not known and not mine.covers(theirs):
        return DIFFERENT, theirs
    # What the SDK reads of the same events if nothing odd is among them: of those that came as a whole, and with the
    # one that was cut off, whose JSON may have been whole.
    for more in (0, 1):
        due = sdk.read(dialect, stream.plain(more))
        if mine.equals(due) or (due.error and mine.covers(due)):
            if theirs.error:
                return MORE, theirs
            return KNOWN_MORE if known else TORN_MORE, theirs
    return DIFFERENT, theirs
