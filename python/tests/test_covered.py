"""Each way to ask a model, tried in a recording and in a replay: the table in the documents has what happened.

`UPDATE_TABLES=1 pytest python/tests/test_covered.py` writes it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from ways import WAYS, Way

import retold

PAGE = Path(__file__).parents[2] / "docs/python/covered.md"
RECORDED, COUNTED, REFUSED, UNSEEN = "recorded", "passed, and counted", "refused", "not seen"

ALL = [(part, way) for part, ways in WAYS.items() for way in ways]


@pytest.fixture(scope="module")
def outcomes():
    found = {}
    yield found
    if len(found) == len(ALL) and os.environ.get("UPDATE_TABLES"):
        before, _, rest = PAGE.read_text().partition("<!-- table -->\n")
        PAGE.write_text(before + "<!-- table -->\n" + _table(found) + "<!-- end -->\n" + rest.partition("<!-- end -->\n")[2])


def _table(outcomes):
    lines = ["| | in a recording | in a replay |", "|---|---|---|"]
    for part, ways in WAYS.items():
        lines.append(f"| **{part}** | | |")
        lines += [f"| {way.words} | {' | '.join(outcomes[way.words])} |" for way in ways]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("way", [way for _, way in ALL], ids=lambda way: way.ask.__name__)
def test_nothing_passes_silently(model, log, way: Way, outcomes, monkeypatch):
    if not way.needs():
        pytest.skip("not on this system")
    # What a client of the program finds elsewhere is this model.
    monkeypatch.setenv("http_proxy", model.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    url = f"{model.url}/v1/chat/completions"
    with way.around():
        with retold.record(log) as run:
            recorded = way.ask(url)
        asked = len(model.asked)
        if asked and run.summary["recorded"] == asked:
            first = RECORDED
        else:
            first = COUNTED if run.passed and not run.summary["recorded"] else UNSEEN
        refused: object = None
        try:
            with retold.replay(log) as run:
                again = way.ask(url)
        except (retold.NotCaught, retold.BlockError) as error:
            refused = error
        except (OSError, subprocess.CalledProcessError):
            refused = run.refused
    second = UNSEEN
    if len(model.asked) == asked:
        second = REFUSED if refused else "replayed" if first == RECORDED and again == recorded else UNSEEN
    assert UNSEEN not in (first, second), run.summary
    outcomes[way.words] = (first, second)
    if not os.environ.get("UPDATE_TABLES"):
        assert f"| {way.words} | {first} | {second} |" in PAGE.read_text()
