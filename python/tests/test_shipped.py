"""What the wheel has beside the code: licences, a bill of materials, and no path of the machine that built it."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "build"))

import shipped  # noqa: E402


def described(name: str) -> bytes:
    """A file of that name in the wheel's own folder."""
    files = importlib.metadata.files("retold") or []
    found = [file for file in files if file.name == name and ".dist-info" in file.parts[0]]
    assert len(found) == 1, f"{name}: {found}"
    return found[0].read_binary()


def test_the_wheel_has_the_licences_of_everything_in_its_bill_of_materials():
    bill = json.loads(described(shipped.MATERIALS))
    names = {f"{component['name']} {component['version']}" for component in bill["components"]}
    of_program_and_module = {"hyper", "rusqlite", "zstd-sys", "pyo3"}
    assert of_program_and_module <= {component["name"] for component in bill["components"]}
    notices = described(shipped.NOTICES).decode()
    listed, _, texts = notices.partition("-" * 80)
    lines = {line.split(": ")[0]: line for line in listed.splitlines()}
    for name in names:
        assert name in texts or "no licence file" in lines[name], name
    # C code that packages bring.
    assert "Facebook" in texts and "Microsoft Corporation, Daan Leijen" in texts
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert described(licence)


def test_the_same_packages_give_the_same_files(tmp_path):
    shipped.notices(tmp_path)
    assert (tmp_path / shipped.NOTICES).read_bytes() == described(shipped.NOTICES)
    assert (tmp_path / shipped.MATERIALS).read_bytes() == described(shipped.MATERIALS)


def test_what_describes_the_wheel_names_no_path_of_this_machine():
    for file in importlib.metadata.files("retold") or []:
        # What pip writes says where it took the wheel from.
        if ".dist-info" in file.parts[0] and file.name not in ("direct_url.json", "RECORD"):
            assert str(ROOT).encode() not in file.read_binary(), file


@pytest.mark.skipif(not shutil.which("rustc"), reason="needs a compiler")
def test_a_program_that_is_shipped_names_no_path_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "ROOT", tmp_path)
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
    source, built = tmp_path / "located.rs", tmp_path / "located"
    source.write_text('fn main() { let n = std::env::args().count(); assert!(n > 9, "{}", file!()); }')

    def build(flags: list[str]) -> None:
        subprocess.run(["rustc", *flags, "-o", str(built), str(source)], check=True)

    build([])
    with pytest.raises(SystemExit, match="names a path of this machine"):
        shipped.check([str(built)])
    build([*shipped.flags().split("\x1f"), "-C", "strip=symbols"])
    shipped.check([str(built)])
