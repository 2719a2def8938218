"""The source distribution has all that the wheel is built of."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What describes the package is maturin's; it needs Cargo, and the rest does not.
MATURIN = """
from pathlib import Path

def prepare_metadata_for_build_wheel(directory, settings=None):
    folder = Path(directory) / "retold-0.1.0rc1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.4\\nName: retold\\nVersion: 0.1.0rc1\\n\\nText\\n")
    return folder.name
"""


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a source distribution is made from a clone")
def test_the_source_distribution_has_the_program_and_the_backend(tmp_path):
    (tmp_path / "maturin.py").write_text(MATURIN)
    out = tmp_path / "dist"
    out.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "python" / "build")])}
    # The clone may belong to somebody else.
    environment |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": str(ROOT)}
    build = f"import backend; print(backend.build_sdist({str(out)!r}))"
    done = subprocess.run([sys.executable, "-c", build], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "retold-0.1.0rc1.tar.gz\n", done.stderr
    with tarfile.open(out / done.stdout.strip()) as archive:
        names = archive.getnames()
        described = archive.extractfile("retold-0.1.0rc1/PKG-INFO")
        assert described is not None and b"Version: 0.1.0rc1" in described.read()
    needed = ["pyproject.toml", "Cargo.lock", "crates/cli/Cargo.toml", "crates/python/Cargo.toml"]
    for name in [*needed, "python/build/backend.py", "python/build/shipped.py", "python/retold/__init__.py", "python/retold/py.typed"]:
        assert f"retold-0.1.0rc1/{name}" in names
