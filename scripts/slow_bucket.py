"""A folder as a bucket of S3 whose replies take a while, for scripts: it reads only, and counts what it is asked."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET = "lab"
#: How many names a list has at most, as that of S3.
NAMES = 1000


@dataclass
class Counted:
    """What a bucket was asked."""

    requests: int = 0
    bytes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, size: int) -> None:
        with self.lock:
            self.requests += 1
            self.bytes += size

    def taken(self) -> tuple[int, int]:
        """What was asked since the last time."""
        with self.lock:
            taken, self.requests, self.bytes = (self.requests, self.bytes), 0, 0
            return taken


class Names:
    """The names of the objects in a folder, in order. They are listed once: nothing is written meanwhile."""

    def __init__(self, folder: Path) -> None:
        found = (Path(place, name) for place, _, names in os.walk(folder) for name in names)
        self.all = sorted(str(path.relative_to(folder)) for path in found)

    def after(self, prefix: str, name: str) -> list[str]:
        begin = max(bisect_left(self.all, prefix), bisect_right(self.all, name))
        end = bisect_left(self.all, prefix + "\U0010ffff")
        return self.all[begin:end]


def listed(names: Names, folder: Path, query: dict[str, list[str]]) -> bytes:
    """A page of ListObjectsV2."""
    prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
    after = query.get("continuation-token", query.get("start-after", [""]))[0]
    entries: list[str] = []
    last, common = "", ""
    for name in names.after(prefix, after):
        rest = name[len(prefix) :]
        if delimiter and delimiter in rest:
            folder_name = prefix + rest.split(delimiter)[0] + delimiter
            if folder_name != common:
                common = folder_name
                entries.append(f"<CommonPrefixes><Prefix>{escape(common)}</Prefix></CommonPrefixes>")
        else:
            size = (folder / name).stat().st_size
            entries.append(
                f"<Contents><Key>{escape(name)}</Key><LastModified>2026-11-27T00:00:00.000Z</LastModified>"
                f'<ETag>"{size}"</ETag><Size>{size}</Size></Contents>'
            )
        last = name
        if len(entries) == NAMES:
            break
    more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{escape(last)}</NextContinuationToken>"
    end = more if len(entries) == NAMES else "<IsTruncated>false</IsTruncated>"
    return f"<ListBucketResult>{''.join(entries)}{end}</ListBucketResult>".encode()


def part(data: bytes, wanted: str | None) -> tuple[int, bytes, str]:
    """A range of an object: status, bytes and where they are."""
    if not wanted:
        return 200, data, ""
    begin, end = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted).groups()
    first = int(begin) if begin else max(0, len(data) - int(end))
    last = min(int(end), len(data) - 1) if begin and end else len(data) - 1
    return 206, data[first : last + 1], f"bytes {first}-{last}/{len(data)}"


def handler(folder: Path, seconds: float, counted: Counted) -> type[BaseHTTPRequestHandler]:
    names = Names(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are two packets: otherwise the second waits 40 ms for the client's acknowledgement of the first.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            time.sleep(seconds)
            place = urlsplit(self.path)
            name = unquote(place.path).removeprefix(f"/{BUCKET}").lstrip("/")
            if not name:
                return self.reply(200, listed(names, folder, parse_qs(place.query, keep_blank_values=True)))
            try:
                data = (folder / name).read_bytes()
            except OSError:
                return self.reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
            status, some, where = part(data, self.headers["Range"])
            self.reply(status, some, {"Content-Range": where} if where else {}, size=len(data))

        do_HEAD = do_GET

        def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None, size: int = 0) -> None:
            is_head = self.command == "HEAD"
            counted.add(0 if is_head else len(body))
            self.send_response(status)
            fixed = {"ETag": f'"{size}"', "Last-Modified": "Fri, 27 Nov 2026 00:00:00 GMT", "Content-Length": str(len(body))}
            for key, value in {**fixed, **(headers or {})}.items():
                self.send_header(key, value)
            self.end_headers()
            if not is_head:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A program that ends leaves its connections."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*_)


@contextmanager
def slow_bucket(folder: Path, seconds: float) -> Iterator[tuple[dict[str, str], Counted]]:
    """The variables that lead to a bucket, and what it is asked."""
    counted = Counted()
    server = Server(("127.0.0.1", 0), handler(folder, seconds, counted))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "example",
    }
    try:
        yield environment, counted
    finally:
        server.shutdown()
