"""Asks the program that came with the package, whose JSON is what it computes: nothing is computed twice."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from ._errors import RetoldError
from ._program import program


def ask(
    log: str, arguments: Sequence[str], given: str = "", error: type[RetoldError] = RetoldError
) -> dict[str, Any]:
    """The object that the program prints about a log."""
    words = [program(), "--log", log, "--json", *arguments]
    done = subprocess.run(words, input=given.encode(), capture_output=True, check=False)
    try:
        said: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise error(done.stderr.decode(errors="replace").strip() or "the program retold said nothing") from None
    if "error" in said:
        problem = said["error"]
        raise error("\n".join([problem["message"], *problem.get("hints", [])]))
    return said


def ask_for_text(log: str, arguments: Sequence[str]) -> str:
    """The text that the program prints about a log."""
    done = subprocess.run([program(), "--log", log, *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise RetoldError(done.stderr.decode(errors="replace").strip().removeprefix("error: "))
    return done.stdout.decode()
