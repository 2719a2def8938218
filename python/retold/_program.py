"""Where the program ``retold`` is."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from ._errors import ProgramNotFound

NAME = "retold.exe" if os.name == "nt" else "retold"


def program() -> str:
    """The path of the program that was installed with this package.

    ``RETOLD_PROGRAM`` names another one, for those who build it themselves.
    """
    named = os.environ.get("RETOLD_PROGRAM")
    if named:
        return named
    places = list(_places())
    for place in places:
        if place.is_file():
            return str(place)
    raise ProgramNotFound(
        f"the program {NAME} is not where this package was installed ({places[0]}): install the package again with "
        "`pip install --force-reinstall retold`, or set RETOLD_PROGRAM to the path of the program"
    )


def _places() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts")) / NAME
    # `pip install --user`, `--target` and `--prefix`.
    scheme = sysconfig.get_preferred_scheme("user")
    yield Path(sysconfig.get_path("scripts", scheme=scheme)) / NAME
    package = Path(__file__).resolve().parent
    yield package.parent / "bin" / NAME
    for above in package.parents[2:5]:
        yield above / ("Scripts" if os.name == "nt" else "bin") / NAME
    yield Path(sys.executable).parent / NAME
