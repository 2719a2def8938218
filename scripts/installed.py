"""An environment for a script: what a list of packages names, and the newest wheel of this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def installed(name: str, requirements: Path) -> Path:
    """Makes the environment target/NAME unless it is there, and returns its folder of programs.

    RETOLD_PROGRAM names a program that takes the place of the wheel's.
    """
    environment = ROOT / "target" / name
    done = environment / "installed.txt"
    programs = environment / "bin"

    def pip(*arguments: str | Path) -> None:
        subprocess.run([programs / "pip", "install", "--quiet", "--disable-pip-version-check", *arguments], check=True)

    if not done.exists() or done.read_text() != requirements.read_text():
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip("-r", requirements)
        done.write_text(requirements.read_text())
    wheels = sorted(ROOT.glob("target/wheels*/retold-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        sys.exit("error: there is no wheel in target/wheels: make one with scripts/wheel")
    pip("--no-deps", "--force-reinstall", wheels[-1])
    if named := os.environ.get("RETOLD_PROGRAM"):
        (programs / "retold").unlink()
        (programs / "retold").symlink_to(Path(named).resolve())
    return programs
