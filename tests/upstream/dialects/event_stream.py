"""The binary event stream of Amazon's APIs (`application/vnd.amazon.eventstream`).

Source: Smithy's specification "Amazon Event Stream": lengths, checksums, headers of type 7 (string), and messages of the
types `event` and `exception`.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

from ..exchange import written

CONTENT_TYPE = "application/vnd.amazon.eventstream"


def event(kind: str, payload: Any) -> bytes:
    return message({":event-type": kind, ":content-type": "application/json", ":message-type": "event"}, payload)


def exception(kind: str, text: str) -> bytes:
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return message(headers, {"message": text})


def message(headers: dict[str, str], payload: Any) -> bytes:
    head = b"".join(header(name, value) for name, value in headers.items())
    body = written(payload).encode()
    prelude = struct.pack(">II", 12 + len(head) + len(body) + 4, len(head))
    prelude += struct.pack(">I", zlib.crc32(prelude))
    whole = prelude + head + body
    return whole + struct.pack(">I", zlib.crc32(whole))


def header(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
