"""The package is typed, and its types hold."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import files, version

import retold


def test_the_types_hold(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "-p", "retold"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_wheel_has_the_program_and_no_dependency():
    names = [str(name) for name in files("retold") or ()]
    assert "retold/py.typed" in names and "retold/_retold.pyi" in names
    assert any(name.endswith("bin/retold") for name in names)
    assert retold.__version__ == version("retold")
    said = subprocess.run([retold._program.program(), "--version"], capture_output=True, text=True)
    assert said.stdout == f"retold {retold.__version__}\n"
