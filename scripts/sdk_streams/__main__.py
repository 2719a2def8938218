"""Makes random streams of four APIs and compares what retold reads of them with what the official SDKs read.

    target/clients/python/bin/python scripts/sdk_streams [--program PATH] [--seed N] [--only N] [COUNT [API ...]]

Run it with the Python that has the SDKs of tests/clients/python.txt. Streams have odd events in them and are cut off
anywhere (blocks.py). The SDK gets the bytes in place of a server's answer; retold records them from a server on this
machine. Retold must read the same. Where the SDK stops with an error, retold must have read what the SDK reads of the
same events without the odd ones (judge.py). A difference is shown with its seed, its number and its bytes, and made as
short as it can be (shrink.py); `--only N` shows one stream. `scripts/test` tries 300 streams for each API.
"""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path
from random import Random
from typing import Any

import chat
import gemini
import judge
import messages
import recorded
import responses
import shrink

DIALECTS = {"chat": chat, "responses": responses, "messages": messages, "gemini": gemini}
#: How many differences are shown.
SHOWN = 5


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", nargs="?", type=int, default=300)
    parser.add_argument("dialects", nargs="*", default=list(DIALECTS))
    parser.add_argument("--program", default=str(Path(__file__).resolve().parents[2] / "target/debug/retold"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one stream, to show it")
    given = parser.parse_args()
    different = 0
    for name in given.dialects:
        numbers = range(given.count) if given.only is None else [given.only]
        streams = [DIALECTS[name].make(Random(f"{given.seed}/{name}/{number}")) for number in numbers]
        different += compared(given.program, name, streams, given)
    return 1 if different else 0


def compared(program: str, name: str, streams: list[Any], given: argparse.Namespace) -> int:
    readings = recorded.record(program, DIALECTS[name], streams)
    found: collections.Counter[str] = collections.Counter()
    for number, stream in enumerate(streams):
        verdict, theirs = judge.judged(DIALECTS[name], stream, readings.get(number))
        found[verdict] += 1
        if given.only is not None or (verdict == judge.DIFFERENT and found[verdict] <= SHOWN):
            shown = number if given.only is None else given.only
            print(f"{name}, seed {given.seed}, stream {shown}: {verdict}; odd: {sorted(stream.odd)}")
            print(f"  bytes:  {stream.sent()!r}\n  SDK:    {theirs}\n  retold: {readings.get(number)}")
            if verdict == judge.DIFFERENT:
                print(f"  shrunk: {shrink.shrunk(program, DIALECTS[name], stream).sent()!r}")
    print(f"{name}: {', '.join(f'{count} {verdict}' for verdict, count in found.most_common())}", flush=True)
    return found[judge.DIFFERENT]


if __name__ == "__main__":
    sys.exit(main())
