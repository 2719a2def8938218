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

EQUAL, MORE, DIFFERENT = "equal", "more, where the SDK raises", "DIFFERENT"
KNOWN_MORE, TORN_MORE = "more, of a known kind", "more, the last event without its empty line"


def judged(dialect: Any, stream: Stream, mine: Reading | None) -> tuple[str, Reading]:
    """How retold's reading is related to the SDK's, which is returned."""
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
