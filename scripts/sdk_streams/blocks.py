"""Writes events as a stream, with odd events between them, as servers, proxies and gateways send them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

#: What is put between events; `END` is the line end of the stream.
BETWEEN = {
    "comment": ": keepalive{END}{END}",
    "comment line": ": OPENROUTER PROCESSING{END}",
    "empty data": "data:{END}{END}",
    "empty data with a space": "data: {END}{END}",
    "comment as data": "data: : keepalive{END}{END}",
    "retry": "retry: 3000{END}{END}",
    "id": "id: 7{END}{END}",
    "unknown field": "foo: bar{END}{END}",
    "field without colon": "data{END}{END}",
    "no JSON": "data: hello{END}{END}",
    "unknown event": 'event: x.unknown{END}data: {"type":"x.unknown","x":1}{END}{END}',
    "a list as data": "data: []{END}{END}",
    "null as data": "data: null{END}{END}",
    "empty lines": "{END}{END}",
    "event without data": "event: x{END}{END}",
    "capital field": "DATA: x{END}{END}",
    "no UTF-8": ": caf\udce9{END}{END}",
}


@dataclass
class Block:
    """An event as it is sent, and as it is sent by a server that does nothing odd: nothing for an odd event."""

    sent: bytes
    plain: bytes


@dataclass
class Stream:
    blocks: list[Block]
    odd: set[str]
    content_type: str = "text/event-stream"
    #: Where it is cut off, and whether the connection breaks there.
    end: int = 0
    breaks: bool = False
    before: bytes = b""

    def whole(self) -> bytes:
        return self.before + b"".join(block.sent for block in self.blocks)

    def sent(self) -> bytes:
        return self.whole()[: self.end]

    def plain(self, more: int = 0) -> bytes:
        """The events that were sent as a whole, and `more` of the next ones, without anything odd."""
        at, count = len(self.before), 0
        for block in self.blocks:
            at += len(block.sent)
            if at > self.end:
                break
            count += 1
        left, plain = more, []
        for number, block in enumerate(self.blocks):
            if number >= count:
                if left == 0:
                    break
                left -= 1
            plain.append(block.plain)
        return b"".join(plain)


def written(random: Random, events: list[tuple[str | None, str]], end: str, odd: set[str]) -> list[Block]:
    """The blocks of events with their names and data."""
    blocks = []
    between = [name for name in BETWEEN if name in odd]
    for name, data in events:
        while between and random.random() < 0.3:
            sent = BETWEEN[random.choice(between)].replace("{END}", end).encode(errors="surrogateescape")
            blocks.append(Block(sent, b""))
        # A line end may stand wherever JSON has space.
        lines = [data]
        if "several data lines" in odd and data.startswith("{"):
            lines = ["{", *([""] if random.random() < 0.3 else []), data[1:]]
        if "mixed line ends" in odd:
            end = random.choice(["\n", "\r\n"])
        prefix = "data:" if "data without space" in odd and random.random() < 0.5 else "data: "
        head = [] if name is None or "no event names" in odd else [f"event: {name}"]
        if "id lines" in odd:
            head.append(f"id: {len(blocks)}")
        if "retry lines" in odd:
            head.append("retry: 10")
        fields = head + [prefix + line for line in lines]
        if "comment in an event" in odd:
            fields.insert(random.randint(0, len(fields)), ": here")
        if "event after data" in odd:
            fields.reverse() if len(lines) == 1 else None
        sent = "".join(field + end for field in fields) + end
        plain = (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
        blocks.append(Block(sent.encode(), plain.encode()))
    return blocks


#: How events themselves may be written.
MANNERS = [
    "several data lines", "data without space", "id lines", "retry lines", "comment in an event", "event after data",
    "no event names", "mixed line ends",
]  # fmt: skip


def oddities(random: Random) -> set[str]:
    """What is odd in a stream: nothing in a third of them."""
    if random.random() < 0.33:
        return set()
    chance = random.choice([0.05, 0.15])
    odd = {name for name in [*BETWEEN, *MANNERS, "mark"] if random.random() < chance}
    if "no event names" in odd and random.random() < 0.7:
        odd.discard("no event names")
    return odd


def streamed(random: Random, events: list[tuple[str | None, str]]) -> Stream:
    """A stream of events, odd or not, whole or cut off."""
    odd = oddities(random)
    end = random.choice(["\n", "\n", "\n", "\r\n", "\r"])
    blocks = written(random, events, end, odd)
    stream = Stream(blocks, odd, before=b"\xef\xbb\xbf" if "mark" in odd else b"")
    cut_off(random, stream)
    return stream


def cut_off(random: Random, stream: Stream) -> None:
    stream.end = len(stream.whole())
    if random.random() < 0.5:
        stream.end = random.randint(0, stream.end)
        stream.breaks = random.random() < 0.2
