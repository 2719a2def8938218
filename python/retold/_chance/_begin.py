"""Begins each Python process of a program as its `sitecustomize`, and makes way for another one."""

import os
import sys

_folder = os.path.dirname(__file__)
try:
    if sys.version_info >= (3, 8):
        import _retold_chance  # type: ignore[import-not-found]

        _retold_chance.start(_folder)
finally:
    sys.path[:] = [path for path in sys.path if path != _folder]
    del sys.modules["sitecustomize"]
try:
    import sitecustomize  # type: ignore[import-not-found]
except ImportError as missing:
    if missing.name != "sitecustomize":
        raise
    # Python takes the module that it finds here.
    sys.modules["sitecustomize"] = sys
