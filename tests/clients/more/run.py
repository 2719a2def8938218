"""Records each client against the fake upstream, and replays it where there is no network but loopback.

Run by `scripts/clients`, which installs the clients. What a replay prints must be what the recording printed, byte for
byte, and every recorded request must be asked. Programs in Python are recorded and replayed inside a block as well.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from clients import CLIENTS, Client
from upstream.server import Upstream

INSTALLED = ROOT / "target/clients-more"
RETOLD = os.environ.get("RETOLD_PROGRAM", str(ROOT / "target/debug/retold"))
KEY = "sk-live-0123456789abcdefSECRET"
ALONE = ["unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
BLOCK = """
import runpy, sys, retold
how, log, script = sys.argv[1:]
with getattr(retold, how)(log):
    runpy.run_path(script, run_name="__main__")
"""


@dataclass
class Said:
    code: int
    out: str
    err: str


def run(command: list[str], variables: dict[str, str], folder: str) -> Said:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    own = {"RETOLD_PROGRAM": RETOLD, "PYTHONPATH": f"{ROOT / 'python'}:{HERE / 'python'}", "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**kept, **own, **variables}
    try:
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired as expired:
        return Said(-1, str(expired.stdout or ""), "not ended after 180 s")
    return Said(done.returncode, done.stdout, done.stderr)


def program(client: Client, folder: str) -> list[str]:
    if client.program.endswith(".py"):
        return [str(INSTALLED / "python/bin/python"), str(HERE / "python" / client.program)]
    if client.program.endswith(".go"):
        return [str(INSTALLED / "go" / Path(client.program).stem)]
    # Node looks for packages from the folder of the module on.
    for file in (HERE / "node").glob("*.mjs"):
        Path(folder, file.name).write_bytes(file.read_bytes())
    Path(folder, "node_modules").symlink_to(INSTALLED / "node/node_modules")
    return ["node", client.program]


def command_line(client: Client, folder: str) -> str:
    upstream = Upstream().start()
    put = lambda text: text.replace("URL", upstream.url)
    variables = {name: put(value) for name, value in client.variables.items()}
    words = program(client, folder)
    recording = [RETOLD, "record", *map(put, client.options), "--", *words]
    recorded = run(recording, {**variables, "STUDY_KEY": KEY}, folder)
    upstream.stop()
    # No key and no address: the variables that are left only have names that the program needs.
    replayed = run([RETOLD, "replay", "--sealed", "latest", "--", *words], {}, folder)
    return compared(recorded, replayed, folder)


def in_process(client: Client, folder: str) -> str:
    upstream = Upstream().start()
    settings = {**client.variables, **client.inside}
    variables = {name: value.replace("URL", upstream.url) for name, value in settings.items()}
    python, script = program(client, folder)
    words = [python, "-c", BLOCK]
    recorded = run([*words, "record", "retold.db", script], {**variables, "STUDY_KEY": KEY}, folder)
    upstream.stop()
    replayed = run([*ALONE, *words, "replay", "retold.db", script], variables, folder)
    return compared(recorded, replayed, folder)


def compared(recorded: Said, replayed: Said, folder: str) -> str:
    """`ok`, or what differs."""
    Path(folder, "recorded.out").write_text(recorded.out)
    Path(folder, "recorded.err").write_text(recorded.err)
    Path(folder, "replayed.out").write_text(replayed.out)
    Path(folder, "replayed.err").write_text(replayed.err)
    if recorded.code != 0:
        return f"recording ended with {recorded.code}: {last(recorded.err)}"
    if recorded.out != replayed.out:
        lines = difflib.ndiff(recorded.out.splitlines(), replayed.out.splitlines())
        return "\n    ".join(["differs:", *(line[:160] for line in lines if line[0] in "+-")])
    if replayed.code != 0 or "never asked" in replayed.err:
        return f"replay ended with {replayed.code}: {last(replayed.err)}"
    if any(KEY.encode() in file.read_bytes() for file in Path(folder).iterdir() if file.is_file() and file.suffix != ".mjs"):
        return "the key is in a file"
    return "ok"


def last(text: str) -> str:
    return " | ".join(text.strip().splitlines()[-4:])[:600]


def version(client: Client) -> str:
    if client.program.endswith(".py"):
        code = f"import importlib.metadata as m; print(m.version({client.package!r}))"
        return run([str(INSTALLED / "python/bin/python"), "-c", code], {}, ".").out.strip()
    if client.program.endswith(".go"):
        return run(["go", "env", "GOVERSION"], {}, ".").out.strip()
    file = INSTALLED / "node/node_modules" / client.package / "package.json"
    return json.loads(file.read_text())["version"]


def tried(how, client: Client, kept: str | None) -> str:
    if kept:
        folder = Path(kept, how.__name__, client.program)
        folder.mkdir(parents=True)
        return how(client, str(folder))
    with tempfile.TemporaryDirectory() as folder:
        return how(client, folder)


def main(names: list[str]) -> int:
    kept = os.environ.get("KEEP")  # a folder in which all files stay, to look at them
    wanted = [client for client in CLIENTS if not names or client.package in names or client.program in names]
    print(f"{'program':20} {'client':24} {'version':10} {'command line':14} in process", flush=True)
    failed = 0
    if not shutil.which("go"):
        wanted = [client for client in wanted if not client.program.endswith(".go")]
    for client in wanted:
        ways = [tried(command_line, client, kept)]
        ways.append(tried(in_process, client, kept) if client.program.endswith(".py") else "-")
        short = [way if way in ("ok", "-") else "DIFFERS" for way in ways]
        print(f"{client.program:20} {client.package:24} {version(client):10} {short[0]:14} {short[1]}", flush=True)
        for way, said in zip(("command line", "in process"), ways):
            if said not in ("ok", "-"):
                failed += 1
                print(f"  {way}: {said}", flush=True)
    print(f"{len(wanted)} clients, {failed} differences")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
