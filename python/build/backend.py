"""Builds the program `retold` before maturin builds the module, so that one wheel has both.

maturin takes a binary or a module, not both; everything else is maturin's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Any

import maturin
import shipped
from maturin import *  # noqa: F403  (the hooks that need nothing of ours)

ROOT = Path(__file__).resolve().parents[2]
#: What `[tool.maturin] data` in pyproject.toml names.
SCRIPTS = ROOT / "target" / "wheel-data" / "scripts"
#: The folder of `license-files` and `[tool.maturin.sbom] include` there.
SHIPPED = ROOT / "target" / "shipped"
#: Whether others get this wheel: `scripts/wheel` asks for the profile of Cargo.toml that makes it small. Without that, what README's
#: first command has built is used again.
IS_SHIPPED = "--profile wheel" in os.environ.get("MATURIN_PEP517_ARGS", "")
NAME = "retold.exe" if os.name == "nt" else "retold"


def _program() -> None:
    """Puts the program where `[tool.maturin] data` expects it."""
    # RETOLD_BUILT_PROGRAM names one that was built already, such as for an older libc.
    built = os.environ.get("RETOLD_BUILT_PROGRAM")
    if not built:
        profile, folder = ("wheel", "wheel") if IS_SHIPPED else ("dev", "debug")
        subprocess.run(["cargo", "build", "--profile", profile, "--locked", "--bin", "retold"], cwd=ROOT, check=True)
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        built = str(target / folder / NAME)
    shutil.rmtree(SCRIPTS.parent, ignore_errors=True)
    SCRIPTS.mkdir(parents=True)
    shutil.copy2(built, SCRIPTS / NAME)


def prepare_metadata_for_build_wheel(directory: str, settings: Any = None) -> str:
    # maturin looks for the folder and the files already here.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    # The wheel has its licences from here.
    shipped.notices(SHIPPED)
    return maturin.prepare_metadata_for_build_wheel(directory, settings)


def build_wheel(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    shipped.notices(SHIPPED)
    # Other flags build everything again, which only what is shipped is worth.
    if IS_SHIPPED:
        os.environ["CARGO_ENCODED_RUSTFLAGS"] = shipped.flags()
    _program()
    wheel = maturin.build_wheel(directory, settings, metadata)
    if IS_SHIPPED:
        shipped.check([os.path.join(directory, wheel)])
    return wheel


def build_editable(directory: str, settings: Any = None, metadata: str | None = None) -> str:
    shipped.notices(SHIPPED)
    _program()
    return maturin.build_editable(directory, settings, metadata)


def build_sdist(directory: str, settings: Any = None) -> str:
    """All that the commit has. maturin takes what the module depends on, and the module does not depend on the program."""
    with tempfile.TemporaryDirectory() as folder:
        described = Path(folder) / prepare_metadata_for_build_wheel(folder, settings) / "METADATA"
        described = described.rename(Path(folder) / "PKG-INFO")
        root = f"retold-{BytesHeaderParser().parsebytes(described.read_bytes())['Version']}"
        archive = ["git", "archive", f"--prefix={root}/", f"--add-file={described}", "-o", f"{directory}/{root}.tar.gz", "HEAD"]
        subprocess.run(archive, cwd=ROOT, check=True)
    return f"{root}.tar.gz"
