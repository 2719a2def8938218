"""What belongs to a program that is given away: the licences of what is linked into it, its bill of materials, and no path of
the machine that built it.

    python3 python/build/shipped.py notices FOLDER    THIRD-PARTY-LICENSES.txt and sbom.cyclonedx.json of the program and the module
    python3 python/build/shipped.py flags             for CARGO_ENCODED_RUSTFLAGS: paths of this machine are renamed
    python3 python/build/shipped.py check FILE..      fails if a file names a path of this machine
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: What is shipped: the program, and the module for Python.
PACKAGES = ("retold-cli", "retold-python")
NOTICES = "THIRD-PARTY-LICENSES.txt"
MATERIALS = "sbom.cyclonedx.json"
LICENCE = re.compile(r"((un)?licen[cs]e|copying|notice|copyright)([-._][\w.-]*)?", re.IGNORECASE)
#: Files of other kinds that have such a name.
OTHER = {".c", ".h", ".html", ".json", ".py", ".rs", ".toml", ".yml"}


def _cargo(*arguments: str) -> str:
    command = ["cargo", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def _linked() -> list[dict[str, Any]]:
    """The packages of others that are linked into what is shipped for this platform, as cargo describes them."""
    # Procedural macros run when the program is built, and are not in it.
    wanted = [part for package in PACKAGES for part in ("--package", package)]
    tree = _cargo("tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}", *wanted)
    linked = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    host = re.search(r"^host: (.+)$", subprocess.check_output(["rustc", "-vV"], text=True), re.MULTILINE)
    platform = ["--filter-platform", host[1]] if host else []
    known = json.loads(_cargo("metadata", "--locked", "--format-version", "1", *platform))["packages"]
    found = [package for package in known if (package["name"], f"v{package['version']}") in linked and package["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def _texts(package: dict[str, Any]) -> list[str]:
    """The licences in a package, those of the C code that it brings included."""
    folder = Path(package["manifest_path"]).parent
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix.lower() not in OTHER]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files if LICENCE.fullmatch(file.name)]
    return ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in texts]


def _spdx(package: dict[str, Any]) -> str:
    return str(package["license"] or "see its licence file").replace("/", " OR ")


def notices(folder: Path) -> None:
    """Writes both files. The same packages give the same bytes."""
    packages, users = _linked(), dict[str, list[str]]()
    lines = ["Retold has the following packages in it, each under its own licence. The texts of the licences follow.", ""]
    for package in packages:
        name = f"{package['name']} {package['version']}"
        texts = _texts(package)
        by = ", ".join(package["authors"])
        said = "" if texts else f"; its package has no licence file{', its authors are ' + by if by else ''}"
        lines.append(f"{name}: {_spdx(package)}{said}")
        for text in dict.fromkeys(texts):
            users.setdefault(text, []).append(name)
    lines.append("SQLite, within libsqlite3-sys: public domain (https://www.sqlite.org/copyright.html)")
    lines.append("The standard library of Rust: MIT OR Apache-2.0 (https://www.rust-lang.org/policies/licenses)")
    for text, names in users.items():
        lines += ["", "-" * 80, "", f"Of {', '.join(names)}:", "", text]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NOTICES).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:cargo/{package['name']}@{package['version']}",
            "name": package["name"],
            "version": package["version"],
            "licenses": [{"expression": _spdx(package)}],
            "purl": f"pkg:cargo/{package['name']}@{package['version']}",
        }
        for package in packages
    ]
    own = next(line for line in _cargo("tree", "--locked", "--package", PACKAGES[0], "--depth", "0", "--prefix", "none").splitlines() if line)
    program = {"type": "application", "bom-ref": "retold", "name": "retold", "version": own.split()[1].removeprefix("v")}
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": program}, "components": components}
    (folder / MATERIALS).write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8", newline="\n")


def _places() -> dict[str, str]:
    """Folders of this machine, and what they are called in a program. The last that fits counts."""
    home = Path.home()
    cargo = Path(os.environ.get("CARGO_HOME", home / ".cargo"))
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    places = {home: "/home", cargo: "/cargo", cargo / "registry" / "src": "/crates", ROOT: "/retold", target: "/target"}
    return {str(folder): name for folder, name in places.items()}


def flags() -> str:
    """The flags for rustc, as CARGO_ENCODED_RUSTFLAGS has them; those that are set already stay."""
    given = os.environ.get("CARGO_ENCODED_RUSTFLAGS")
    before = given.split("\x1f") if given else os.environ.get("RUSTFLAGS", "").split()
    ours = [f"--remap-path-prefix={folder}={name}" for folder, name in _places().items()]
    return "\x1f".join([flag for flag in before if flag not in ours] + ours)


def check(files: list[str]) -> None:
    """Ends with an error if a file, or one in a wheel, names a folder of this machine."""
    for file in files:
        contents = {file: Path(file).read_bytes()}
        if file.endswith(".whl"):
            with zipfile.ZipFile(file) as wheel:
                contents = {f"{name} in {file}": wheel.read(name) for name in wheel.namelist()}
        for name, content in contents.items():
            for folder in _places():
                found = re.search(re.escape(os.fsencode(folder)) + rb"[/\\].{0,100}", content, re.DOTALL)
                if found:
                    sys.exit(f"error: {name} names a path of this machine: {found[0]!r}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["notices", folder]:
            notices(Path(folder))
        case ["flags"]:
            sys.stdout.write(flags())
        case ["check", *files]:
            check(files)
        case _:
            sys.exit(__doc__)
