"""The clients that `scripts/clients` records and replays, and how each finds the server."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Client:
    package: str
    program: str
    variables: dict[str, str] = field(default_factory=dict)
    """What the program's environment has when it is recorded; `URL` stands for the address of the fake upstream."""
    options: list[str] = field(default_factory=list)
    """Options of `retold record`, with `URL` as well."""
    inside: dict[str, str] = field(default_factory=dict)
    """Variables that only a block of the Python package needs: `retold record` sets them, or intercepts the host."""


OPENAI = {"OPENAI_BASE_URL": "URL/v1"}

CLIENTS = [
    Client("litellm", "of_litellm.py", OPENAI),
]
