"""What is expected of a program, in the log before its first call."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._ask import ask
from ._scratch import ScratchFolder

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Plan:
    """A plan in a log, which nothing can change later."""

    #: The name of the runs that are recorded by it.
    name: str
    #: The run that registered it.
    run: str
    #: The hash of its last event, which a seal signs.
    head: str
    #: Whether it was registered now; the same plan is registered only once.
    is_new: bool


def plan(
    log: Path,
    name: str,
    hypotheses: Sequence[str | Mapping[str, Any]],
    *,
    calls: int | None = None,
    models: Sequence[str] = (),
    parsers: Sequence[str] = (),
    judges: Sequence[Path] = (),
    stopping: str | None = None,
    exclusions: Sequence[str] = (),
    clustered_by: str | None = None,
) -> Plan:
    """Registers what is expected of the runs that are called ``name``: `record(log, plan=...)` then records by it.

    Each of the ``hypotheses`` is a figure, or a mapping with ``figure``, ``baseline`` and ``direction`` (``greater``, ``less`` or
    ``different``). ``calls`` is how many calls the program makes, ``models`` are those that may answer, ``parsers``
    (``NAME@VERSION``) and ``judges`` (their configs) what may decide. ``stopping`` and ``exclusions`` are kept as they are.
    """
    expected = [{"figure": of} if isinstance(of, str) else dict(of) for of in hypotheses]
    fields: dict[str, Any] = {
        "calls": calls,
        "models": list(models),
        "parsers": list(parsers),
        "judges": [os.path.abspath(judge) for judge in judges],
        "stopping": stopping,
        "exclusions": list(exclusions),
        "clustered_by": clustered_by,
    }
    folder = ScratchFolder()
    try:
        # JSON is YAML, too.
        file = os.path.join(folder.name, "hypotheses.yaml")
        with open(file, "w", encoding="utf-8") as to:
            given = {key: value for key, value in fields.items() if value}
            json.dump({"hypotheses": expected, **given}, to, allow_nan=False)
        said = ask(os.fspath(log), ["plan", "--register", "--name", name, "--hypotheses", file])
    finally:
        folder.cleanup()
    return Plan(said["name"], said["plan"], said["head"], said["is_new"])
