"""Simulations of others, as they are on PyPI: recorded with --chance, replayed five times, killed at three places and resumed.

    python3 scripts/simulations [NAME ..]

Run it with Python 3.12 or later, which Concordia needs. Installs each into an environment of its own in target/simulations, and asks a
model on this machine. RETOLD is the program to use, by
default the one in target/debug. The exit code is 1 if a replay differs, or if anything was paid for twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from server import Model

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = ROOT / "target" / "simulations"
RETOLD = os.environ.get("RETOLD", str(ROOT / "target" / "debug" / "retold"))
REPLAYS = 5

#: What each needs, at the versions that were measured.
SIMULATIONS = {
    "concordia": ["gdm-concordia==2.4.0", "openai==3.57.0"],
    "mesa": ["mesa[network]==3.5.1", "openai==3.57.0"],
    "ag2": ["ag2[openai]==0.9.10", "openai==3.57.0"],
}


def main() -> int:
    if sys.version_info < (3, 12):
        print("Concordia needs Python 3.12 or later: run this script with that", file=sys.stderr)
        return 2
    names = sys.argv[1:] or list(SIMULATIONS)
    unknown = sorted(set(names) - set(SIMULATIONS))
    if unknown:
        print(f"there is no {', '.join(unknown)}: there are {', '.join(SIMULATIONS)}", file=sys.stderr)
        return 2
    return 0 if all([run(name) for name in names]) else 1


def run(name: str) -> bool:
    command = [str(installed(name)), str(HERE / f"{name}_study.py")]
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        model = Model()
        first, recorded = retold(folder, model, ["record", "--chance"], command)
        calls, seconds = sum(model.asked.values()), time.monotonic() - began
        if first != 0:
            print(f"{name}: the recording ended with {first}\n{recorded}")
            return False
        equal = sum(retold(folder, model, ["replay", "latest"], command) == (0, recorded) for _ in range(REPLAYS))
        print(f"{name}: {calls} calls in {seconds:.1f} s; {equal} of {REPLAYS} replays equal", flush=True)
        good = equal == REPLAYS
        for place in (calls // 5, calls // 2, calls * 4 // 5):
            paid, twice, again = killed(folder, command, max(place, 1))
            print(f"  killed at {place}: {paid} paid for, {twice} twice, replay {'equal' if again else 'DIFFERS'}", flush=True)
            good = good and twice == 0 and again
        retold(folder, model, ["record"], command)
        unseeded, _ = retold(folder, model, ["replay", "latest"], command)
        print(f"  without --chance: replay {'equal' if unseeded == 0 else 'differs'}", flush=True)
        return good


def killed(folder: str, command: list[str], place: int) -> tuple[int, int, bool]:
    """Kills the program when so many requests were made, and resumes the run: what was paid for in all, what twice, and whether a
    replay is equal."""
    model = Model()
    started = start(folder, model, ["record", "--chance"], command)

    def kill(number: int) -> None:
        if number == place:
            # The program alone: retold receives what is under way.
            subprocess.run(["pkill", "-KILL", "-P", str(started.pid)], check=False)

    model.each = kill
    started.communicate()
    model.each = lambda number: None
    code, resumed = retold(folder, model, ["record", "--resume", "latest"], command)
    paid = sum(model.asked.values())
    replaying = start(folder, model, ["replay", "latest", "--json"], command)
    out, told = replaying.communicate()
    # A program may ask the same several times.
    twice = paid - json.loads(told.rstrip().rpartition("\n")[2])["replayed"]
    return paid, twice, (code, replaying.returncode, last_line(out)) == (0, 0, resumed)


def retold(folder: str, model: Model, words: list[str], command: list[str]) -> tuple[int, str]:
    """The exit code of a command of retold, and the last line that the program printed: the digest of all that came out."""
    started = start(folder, model, words, command)
    out, _ = started.communicate()
    return started.returncode, last_line(out)


def last_line(text: str) -> str:
    """The last line of a text."""
    return text.rstrip().rpartition("\n")[2]


def start(folder: str, model: Model, words: list[str], command: list[str]) -> subprocess.Popen[str]:
    own = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "sk-nobody", "HOME": folder}
    env = {**os.environ, **own}
    words = [RETOLD, "--log", f"{folder}/log.db", *words, "--", *command]
    return subprocess.Popen(words, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def installed(name: str) -> Path:
    """The Python of an environment that has a simulation."""
    place, wanted = TARGET / name, "\n".join(SIMULATIONS[name])
    done = place / "installed.txt"
    if not done.exists() or done.read_text() != wanted:
        venv.create(place, clear=True, with_pip=True)
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *SIMULATIONS[name]], check=True)
        done.write_text(wanted)
    return place / "bin" / "python"


if __name__ == "__main__":
    sys.exit(main())
