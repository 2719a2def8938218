"""How long a command takes, and how much memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def measured(
    command: Sequence[str | Path], folder: Path, fine: Sequence[int] = (0,), environment: dict[str, str] | None = None
) -> tuple[float, float]:
    """Seconds, and peak memory in MB, of a command that must succeed."""
    with open(folder / "said.txt", "wb") as said:
        begun = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})
        _, status, used = os.wait4(child.pid, 0)
        took = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in fine:
        said = (folder / "said.txt").read_text(errors="replace")[-2000:]
        sys.exit(f"{' '.join(map(str, command))} ended with {child.returncode}:\n{said}")
    return took, used.ru_maxrss / 1024
