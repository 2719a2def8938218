"""The programs in examples/recipes whose libraries the tests have: they find the same in a folder of tables as retold does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
GAME = ["model.rates.malformed=0.6", "max_parse_retries=0"]


def retold(log: Path, *arguments: str | Path, fine: int = 0) -> str:
    from retold._program import program

    done = subprocess.run([program(), "--log", log, *arguments], capture_output=True, text=True)
    assert done.returncode == fine, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, Path]:
    """A log with two runs of a small public goods game, and the folder of its tables."""
    folder = tmp_path_factory.mktemp("recipes")
    log, tables = folder / "runs.db", folder / "tables"
    for seed in [1, 2]:
        changes = [part for change in [*GAME, f"seed={seed}"] for part in ["--set", change]]
        retold(log, "run", ROOT / "config" / "public_goods_small.yaml", *changes, "--no-outputs", "--quiet")
    retold(log, "table", "--all", "--to", tables, "--quiet")
    return log, tables


@pytest.mark.parametrize("recipe", ["in_duckdb.py", "in_polars.py", "in_pandas.py"])
def test_a_recipe_finds_what_retold_says(recipe, runs):
    log, tables = runs
    done = subprocess.run([sys.executable, ROOT / "examples" / "recipes" / recipe, tables], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)

    names = [run["run"] for run in json.loads(retold(log, "log", "--json"))["runs"]]
    stats = [json.loads(retold(log, "stats", name, "--figure", "mean of contribution", "--json")) for name in names]
    groups = [one["figures"][0]["groups"][0] for one in stats]
    checked = json.loads(retold(log, "check", *names, "--parser", "contribution@1", "--json", fine=1))
    assert found == {
        "runs": 2,
        "answers": sum(one["calls"]["answered"] for one in stats),
        "prompt_tokens": sum(one["tokens"]["prompt"] for one in stats),
        "completion_tokens": sum(one["tokens"]["completion"] for one in stats),
        "values": sum(group["draws"] for group in groups),
        "sum": pytest.approx(sum(group["draws"] * group["value"] for group in groups)),
        "flips": sum(one["flips"] for one in checked["checks"]),
    }
    # Otherwise the programs would not have to leave anything out.
    assert any(group["fallback"] for group in groups) and found["flips"] > 0
